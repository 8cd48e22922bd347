"""A crate: a release with what catalogues want to know of it, in three vocabularies, and how to cite it.

RO-Crate (https://w3id.org/ro/crate), mobilityDCAT-AP (https://w3id.org/mobilitydcat-ap) and Croissant
(https://mlcommons.org/croissant). The public part is copied as it is; everything else lies beside it, so that
``check`` holds of the copy. What is said comes from the manifest, the public tables and the user.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tripcloak._version import __version__
from tripcloak.exporting.export import written_aside
from tripcloak.ground.errors import InputError
from tripcloak.ground.folders import file_digest
from tripcloak.ground.manifest import public_part, read_manifest
from tripcloak.ground.spelling import called

FILES = ("ro-crate-metadata.json", "mobilitydcat-ap.jsonld", "croissant.json", "CITATION.txt")
"""What lies beside the public part."""
CRATE = "1.3"
"""The version of RO-Crate that is written."""
MEDIA = {
    ".parquet": "application/vnd.apache.parquet",
    ".csv": "text/csv",
    ".geojson": "application/geo+json",
    ".json": "application/json",
    ".mfjson": "application/geo+json",
    ".html": "text/html",
    ".md": "text/markdown",
}
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True, kw_only=True)
class Details:
    """What only the publisher can say.

    Attributes
    ----------
    title, description : str
        What the dataset is called, and what it is.
    licence : str
        The address of a licence's text.
    publisher : str
        Who publishes it.
    contact : str
        An address of e-mail for questions.
    date : str
        The day it is published, as 2024-05-31.
    """

    title: str
    licence: str
    publisher: str
    contact: str
    date: str
    description: str = ""

    def __post_init__(self) -> None:
        for name in ("title", "publisher"):
            if not getattr(self, name).strip():
                raise InputError(f"{called(name)} must not be empty")
        if not self.licence.startswith(("https://", "http://")):
            raise InputError(
                f"{called('licence')} must be the address of a licence, such as "
                "https://creativecommons.org/licenses/by/4.0/"
            )
        if not re.fullmatch(r"[^@\s]+@[^@\s]+", self.contact):
            raise InputError(f"{called('contact')} must be an address of e-mail")
        if not _DAY.fullmatch(self.date):
            raise InputError(f"{called('date')} must be a day, such as 2024-05-31")


def write_crate(folder: Path, out: Path, details: Details, *, force: bool = False) -> Path:
    """Write a crate of a release, and return where it is.

    Parameters
    ----------
    folder
        The folder of a release, or its public part.
    out
        A new folder.

    Raises
    ------
    InputError
        There is no release, or a file of it is not the one that the manifest states.
    """
    facts, public = read_manifest(folder), public_part(folder).absolute()
    files = facts.get("files")
    stated: dict[str, str] = files if isinstance(files, dict) else {}
    names = sorted(stated)
    for name in names:
        if not (public / name).is_file() or file_digest(public / name) != stated[name]:
            raise InputError(f"{public / name} is not the file that the manifest states; nothing was written")
    with written_aside(out, force=force) as aside:
        shutil.copytree(public, aside / "release")
        told = Described(facts, details, {name: str(stated[name]) for name in names}, public)
        for name, content in zip(FILES, (told.crate(), told.dcat(), told.croissant()), strict=False):
            text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
            (aside / name).write_text(text + "\n", encoding="utf-8")
        (aside / FILES[-1]).write_text(told.citation() + "\n", encoding="utf-8")
    return out


@dataclass(frozen=True)
class Described:
    """What is said of a release: by its manifest, by its publisher, and of each of its files."""

    facts: Mapping[str, Any]
    details: Details
    digests: Mapping[str, str]
    public: Path

    @property
    def words(self) -> str:
        """Return what the dataset is: in the publisher's words, how it was made, and what is promised."""
        promise = self.facts.get("promise", {})
        sentence = promise.get("sentence", "") if isinstance(promise, dict) else ""
        kind = {"flows": "Trips between zones", "trajectories": "Trajectories of boxes in space and time"}
        parts = [
            self.details.description,
            f"{kind[self.facts['kind']]}, made safe to publish by tripcloak {self.facts['version']}, method "
            f"{self.facts['method']}.",
            str(sentence),
        ]
        return " ".join(part.strip().rstrip(".") + "." for part in parts if part.strip())

    def citation(self) -> str:
        """Return how to cite the dataset."""
        digest = next(iter(self.digests.values()), "")[:12]
        return (
            f"{self.details.publisher} ({self.details.date[:4]}). {self.details.title} [Data set]. Made with "
            f"tripcloak {self.facts['version']}; digest {digest}. Licence: {self.details.licence}"
        )

    def extent(self) -> tuple[float, float, float, float] | None:
        """Return west, south, east and north of what is published; None where no place is told."""
        from pyarrow import compute, parquet

        if self.facts["kind"] == "trajectories":
            table = parquet.read_table(self.public / "samples.parquet")
            sides = ("lon_min", "lat_min", "lon_max", "lat_max")
        else:
            table = parquet.read_table(self.public / "zones.parquet", columns=["lon", "lat"])
            sides = ("lon", "lat", "lon", "lat")
        ends = [compute.min(table[name]) for name in sides[:2]] + [
            compute.max(table[name]) for name in sides[2:]
        ]
        found = [round(end.as_py(), 4) for end in ends if end.as_py() is not None]
        return (found[0], found[1], found[2], found[3]) if len(found) == 4 else None

    def crate(self) -> dict[str, Any]:
        """Return the metadata of an RO-Crate."""
        own, extent = self.details, self.extent()
        root: dict[str, Any] = {
            "@id": "./",
            "@type": "Dataset",
            "name": own.title,
            "description": self.words,
            "datePublished": own.date,
            "license": {"@id": own.licence},
            "publisher": {"@id": "#publisher"},
            "creditText": self.citation(),
            "hasPart": [{"@id": f"release/{name}"} for name in (*self.digests, "manifest.json")],
        }
        if extent is not None:
            root["spatialCoverage"] = {"@id": "#area"}
        about = {
            "@id": "ro-crate-metadata.json",
            "@type": "CreativeWork",
            "about": {"@id": "./"},
            "conformsTo": {"@id": f"https://w3id.org/ro/crate/{CRATE}"},
        }
        graph = [about, root, *self._people(), *_area(extent), *self._crate_files(), *self._making()]
        return {"@context": f"https://w3id.org/ro/crate/{CRATE}/context", "@graph": graph}

    def _people(self) -> list[dict[str, Any]]:
        own, mail = self.details, f"mailto:{self.details.contact}"
        return [
            {"@id": own.licence, "@type": "CreativeWork", "name": own.licence, "description": "Licence"},
            {
                "@id": "#publisher",
                "@type": "Organization",
                "name": own.publisher,
                "contactPoint": {"@id": mail},
            },
            {"@id": mail, "@type": "ContactPoint", "email": own.contact, "name": own.publisher},
        ]

    def _making(self) -> list[dict[str, Any]]:
        return [
            {
                "@id": "#making",
                "@type": "CreateAction",
                "name": f"anonymisation by {self.facts['method']}",
                "instrument": {"@id": "#tripcloak"},
                "result": [{"@id": f"release/{name}"} for name in self.digests],
            },
            {
                "@id": "#tripcloak",
                "@type": "SoftwareApplication",
                "name": "tripcloak",
                "softwareVersion": str(self.facts["version"]),
                "url": "https://github.com/tripcloak/tripcloak",
            },
        ]

    def _crate_files(self) -> list[dict[str, Any]]:
        return [
            {
                "@id": f"release/{name}",
                "@type": "File",
                "name": name,
                "encodingFormat": MEDIA.get(Path(name).suffix, "application/octet-stream"),
                "contentSize": str((self.public / name).stat().st_size),
                **({"sha256": self.digests[name]} if name in self.digests else {}),
            }
            for name in (*self.digests, "manifest.json")
        ]

    def dcat(self) -> dict[str, Any]:
        """Return the description by mobilityDCAT-AP, as JSON-LD."""
        own = self.details
        agent = {"@type": "foaf:Agent", "foaf:name": own.publisher}
        contact = {
            "@type": "vcard:Kind",
            "vcard:fn": own.publisher,
            "vcard:hasEmail": {"@id": f"mailto:{own.contact}"},
        }
        data: dict[str, Any] = {
            "@id": "urn:tripcloak:" + next(iter(self.digests.values()), "")[:32],
            "@type": "dcat:Dataset",
            "dct:title": own.title,
            "dct:description": self.words,
            "dct:publisher": agent,
            "dcat:contactPoint": contact,
            "dct:issued": {"@value": own.date, "@type": "xsd:date"},
            "dct:accrualPeriodicity": {"@id": f"{_EU}frequency/NEVER"},
            "mobilitydcatap:mobilityTheme": {"@id": f"{_THEMES}other"},
            "dct:provenance": {"@type": "dct:ProvenanceStatement", "rdfs:label": f"tripcloak {__version__}"},
            "dcat:distribution": [self._distribution(name) for name in self.digests],
        }
        extent = self.extent()
        if extent is not None:
            data["dct:spatial"] = {
                "@type": "dct:Location",
                "dcat:bbox": {"@value": _box_text(extent), "@type": "geosparql:wktLiteral"},
            }
        return {"@context": _CONTEXT, **data}

    def _distribution(self, name: str) -> dict[str, Any]:
        media = MEDIA.get(Path(name).suffix, "application/octet-stream")
        return {
            "@id": f"release/{name}",
            "@type": "dcat:Distribution",
            "dct:title": name,
            "dcat:accessURL": {"@id": f"release/{name}"},
            "dct:format": {"@id": f"https://www.iana.org/assignments/media-types/{media}"},
            "mobilitydcatap:mobilityDataStandard": {"@id": f"{_STANDARDS}other"},
            "dct:rights": {"@type": "dct:RightsStatement", "rdfs:label": "open data"},
            "dct:license": {"@id": self.details.licence},
            "spdx:checksum": {
                "@type": "spdx:Checksum",
                "spdx:algorithm": {"@id": "http://spdx.org/rdf/terms#checksumAlgorithm_sha256"},
                "spdx:checksumValue": self.digests[name],
            },
        }

    def croissant(self) -> dict[str, Any]:
        """Return the description by Croissant 1.0, with a record set for every Parquet file."""
        tables = [name for name in self.digests if name.endswith(".parquet")]
        return {
            "@context": _CROISSANT,
            "@type": "sc:Dataset",
            "conformsTo": "http://mlcommons.org/croissant/1.0",
            "name": re.sub(r"[^\w-]+", "-", self.details.title).strip("-") or "release",
            "description": self.words,
            "license": self.details.licence,
            "creator": {"@type": "sc:Organization", "name": self.details.publisher},
            "citeAs": self.citation(),
            "datePublished": self.details.date,
            "version": "1.0.0",
            "url": "https://github.com/tripcloak/tripcloak",
            "distribution": [
                {
                    "@type": "cr:FileObject",
                    "@id": name,
                    "name": name,
                    "contentUrl": f"release/{name}",
                    "encodingFormat": "application/x-parquet",
                    "sha256": self.digests[name],
                }
                for name in tables
            ],
            "recordSet": [self._records(name) for name in tables],
        }

    def _records(self, name: str) -> dict[str, Any]:
        from pyarrow import parquet

        own = Path(name).stem
        return {
            "@type": "cr:RecordSet",
            "@id": own,
            "name": own,
            "field": [
                {
                    "@type": "cr:Field",
                    "@id": f"{own}/{field.name}",
                    "name": field.name,
                    "dataType": _croissant_type(field.type),
                    "source": {"fileObject": {"@id": name}, "extract": {"column": field.name}},
                }
                for field in parquet.read_schema(self.public / name)
            ],
        }


def _croissant_type(kind: Any) -> str:
    import pyarrow as pa

    if pa.types.is_integer(kind):
        return "sc:Integer"
    if pa.types.is_floating(kind):
        return "sc:Float"
    return "sc:DateTime" if pa.types.is_timestamp(kind) else "sc:Text"


def _area(extent: tuple[float, float, float, float] | None) -> list[dict[str, Any]]:
    if extent is None:
        return []
    return [
        {"@id": "#area", "@type": "Place", "name": "area of the data", "geo": {"@id": "#box"}},
        {"@id": "#box", "@type": "GeoShape", "name": "box", "box": _box_words(extent)},
    ]


def _box_words(extent: tuple[float, float, float, float]) -> str:
    west, south, east, north = extent
    return f"{south} {west} {north} {east}"


def _box_text(extent: tuple[float, float, float, float]) -> str:
    west, south, east, north = extent
    return f"POLYGON(({west} {south}, {east} {south}, {east} {north}, {west} {north}, {west} {south}))"


_EU = "http://publications.europa.eu/resource/authority/"
_THEMES = "https://w3id.org/mobilitydcat-ap/mobility-theme/"
_STANDARDS = "https://w3id.org/mobilitydcat-ap/mobility-data-standard/"
_CONTEXT = {
    "dcat": "http://www.w3.org/ns/dcat#",
    "dct": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "vcard": "http://www.w3.org/2006/vcard/ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "spdx": "http://spdx.org/rdf/terms#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "geosparql": "http://www.opengis.net/ont/geosparql#",
    "mobilitydcatap": "https://w3id.org/mobilitydcat-ap#",
}
_CROISSANT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "recordSet": "cr:recordSet",
    "sc": "https://schema.org/",
    "source": "cr:source",
}
