"""Judges a crate by the formats' own validators; run by the Python that has them, and without a network.

``python judge.py CRATE`` prints a JSON object: of each format what its validator finds wrong.
"""

from __future__ import annotations

import json
import os
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

CONTEXT = "https://w3id.org/ro/crate/1.3/context"


def main(crate: Path, shapes: list[Path]) -> None:
    """Print what is wrong by each validator."""
    found = {"ro-crate": by_rocrate(crate), "croissant": by_mlcroissant(crate)}
    if shapes:
        found["mobilitydcat-ap"] = by_shapes(crate, shapes)
    print(json.dumps(found))


def by_rocrate(crate: Path) -> list[str]:
    """Return what the validator of RO-Crate finds, of what is required and of what is recommended."""
    import requests
    import rocrate
    from rocrate_validator.models import Severity, ValidationSettings
    from rocrate_validator.services import validate
    from urllib3 import HTTPResponse

    held = (Path(rocrate.__file__).parent / "data" / "ro-crate.jsonld").read_bytes()

    def answer(
        adapter: requests.adapters.HTTPAdapter, request: requests.PreparedRequest, **_: Any
    ) -> requests.Response:
        """The context of RO-Crate 1.3, as the library rocrate holds it; nothing else is there."""
        if request.url != CONTEXT:
            raise requests.ConnectionError(f"there is no network: {request.url}")
        head = {"Content-Type": "application/ld+json"}
        raw = HTTPResponse(BytesIO(held), headers=head, status=200, preload_content=False)
        return adapter.build_response(request, raw)

    requests.adapters.HTTPAdapter.send = answer
    settings = ValidationSettings(
        rocrate_uri=str(crate), profile_identifier="ro-crate-1.3", requirement_severity=Severity.RECOMMENDED
    )
    return [
        f"{issue.severity.name} {issue.check.identifier} {issue.message}"
        for issue in validate(settings).get_issues()
    ]


def by_mlcroissant(crate: Path) -> list[str]:
    """Return what mlcroissant finds, and which record sets it cannot read."""
    import mlcroissant

    try:
        data = mlcroissant.Dataset(crate / "croissant.json")
        issues = data.metadata.ctx.issues
        wrong = [*issues.errors, *issues.warnings]
        for records in data.metadata.record_sets:
            if not list(zip(range(1), data.records(records.uuid), strict=False)):
                wrong.append(f"{records.uuid} has no record")
    except (mlcroissant.ValidationError, mlcroissant.GenerationError) as error:
        return [str(error)]
    return wrong


def by_shapes(crate: Path, shapes: list[Path]) -> list[str]:
    """Return what the shapes of mobilityDCAT-AP find, as SHACL."""
    import pyshacl
    import rdflib

    told = rdflib.Graph().parse(crate / "mobilitydcat-ap.jsonld", format="json-ld")
    rules = rdflib.Graph()
    for path in shapes:
        rules.parse(path, format="turtle")
    _, report, _ = pyshacl.validate(told, shacl_graph=rules, advanced=True)
    shacl = rdflib.Namespace("http://www.w3.org/ns/shacl#")
    return sorted(
        f"{report.value(one, shacl.focusNode)} {report.value(one, shacl.resultPath)} "
        f"{report.value(one, shacl.resultMessage)}"
        for one in report.subjects(rdflib.RDF.type, shacl.ValidationResult)
        if report.value(one, shacl.resultSeverity) == shacl.Violation
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), [Path(name) for name in sys.argv[2:]])
    sys.stdout.flush()
    # Threads that a library has left may end a process that ends as usual with an error, now and then.
    os._exit(0)
