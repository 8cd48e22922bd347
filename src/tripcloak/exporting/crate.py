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
EU_TYPES = {
    ".parquet": "PARQUET",
    ".csv": "CSV",
    ".geojson": "GEOJSON",
    ".json": "JSON",
    ".mfjson": "GEOJSON",
    ".html": "HTML",
    ".md": "TXT",
}
"""Kinds of files by the list of the European Publications Office."""
CONTENTS = {
    "flows": "Released flows: origin, destination and their numbers.",
    "lines": "Released flows as lines from point to point.",
    "zones": "Zones: size, area, representative point, outline.",
    "samples": "Released samples: boxes in space and time.",
    "trajectories": "Released trajectories.",
    "map": "A map of the release in one file, which needs no network.",
    "README": "What the release is, what it promises and how to open it, in plain words.",
    "manifest": "Method, parameters, totals, and a SHA-256 of every file.",
}
"""What is in a file of a release, by its name."""
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_PERIOD = re.compile(r"\d{4}-\d\d-\d\d/\d{4}-\d\d-\d\d")


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
    period : str
        First and last day that the data are about, as 2024-05-01/2024-05-31; nothing is told without.
    language : str
        The language of title and description, as two letters.
    """

    title: str
    licence: str
    publisher: str
    contact: str
    date: str
    description: str = ""
    period: str = ""
    language: str = "en"

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
        if self.period and not _PERIOD.fullmatch(self.period):
            raise InputError(f"{called('period')} must be two days, such as 2024-05-01/2024-05-31")
        if not re.fullmatch("[a-z]{2}", self.language):
            raise InputError(f"{called('language')} must be two letters, such as en")


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
            table = parquet.read_table(self.public.absolute() / "samples.parquet")
            sides = ("lon_min", "lat_min", "lon_max", "lat_max")
        else:
            table = parquet.read_table(self.public.absolute() / "zones.parquet", columns=["lon", "lat"])
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
            "mentions": {"@id": "#making"},
            "hasPart": [{"@id": f"release/{name}"} for name in (*self.digests, "manifest.json")],
        }
        if own.period:
            root["temporalCoverage"] = own.period
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
                "version": str(self.facts["version"]),
                "url": "https://github.com/tripcloak/tripcloak",
            },
        ]

    def _crate_files(self) -> list[dict[str, Any]]:
        return [
            {
                "@id": f"release/{name}",
                "@type": "File",
                "name": name,
                "description": CONTENTS.get(Path(name).stem, "A table of the release."),
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
            "vcard:hasEmail": {"@id": f"mailto:{own.contact}", "@type": "owl:Thing"},
        }
        data: dict[str, Any] = {
            "@id": "urn:tripcloak:" + next(iter(self.digests.values()), "")[:32],
            "@type": "dcat:Dataset",
            "dct:title": {"@value": own.title, "@language": own.language},
            "dct:description": {"@value": self.words, "@language": own.language},
            "dct:publisher": agent,
            "dcat:contactPoint": contact,
            "dct:issued": {"@value": own.date, "@type": "xsd:date"},
            "dct:accrualPeriodicity": {"@id": f"{_EU}frequency/NEVER", "@type": "dct:Frequency"},
            "mobilitydcatap:mobilityTheme": _concept("mobility-theme/other", "other"),
            "dct:provenance": {"@type": "dct:ProvenanceStatement", "rdfs:label": f"tripcloak {__version__}"},
            "dcat:distribution": [self._distribution(name) for name in self.digests],
        }
        if own.period:
            first, last = ({"@value": day, "@type": "xsd:date"} for day in own.period.split("/"))
            data["dct:temporal"] = {
                "@type": "dct:PeriodOfTime",
                "dcat:startDate": first,
                "dcat:endDate": last,
            }
        extent = self.extent()
        if extent is not None:
            data["dct:spatial"] = {
                "@type": "dct:Location",
                "dcat:bbox": {"@value": _box_text(extent), "@type": "geosparql:wktLiteral"},
            }
        return {"@context": _CONTEXT, **data}

    def _distribution(self, name: str) -> dict[str, Any]:
        """Return one file; without its digest, since the profile knows SHA-1 alone."""
        kind = EU_TYPES.get(Path(name).suffix, "BIN")
        return {
            "@id": f"release/{name}",
            "@type": "dcat:Distribution",
            "dct:title": {"@value": name, "@language": self.details.language},
            "dcat:accessURL": {"@id": f"release/{name}"},
            "dct:format": {"@id": f"{_EU}file-type/{kind}", "@type": "dct:MediaTypeOrExtent"},
            "mobilitydcatap:mobilityDataStandard": {
                "@type": "mobilitydcatap:MobilityDataStandard",
                "dct:conformsTo": {
                    "@id": f"{_VOCABULARIES}mobility-data-standard/other",
                    "@type": "dct:Standard",
                },
            },
            "dct:rights": {
                "@type": "dct:RightsStatement",
                "dct:type": _concept("conditions-for-access-and-usage/licence-provided", "licence provided"),
            },
            "dct:license": {"@id": self.details.licence, "@type": "dct:LicenseDocument"},
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


def _concept(name: str, label: str) -> dict[str, Any]:
    """Return an entry of a controlled vocabulary, with the label that it has there."""
    told = {"@value": label, "@language": "en"}
    return {"@id": f"{_VOCABULARIES}{name}", "@type": "skos:Concept", "skos:prefLabel": told}


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
_VOCABULARIES = "https://w3id.org/mobilitydcat-ap/"
_CONTEXT = {
    "dcat": "http://www.w3.org/ns/dcat#",
    "dct": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "vcard": "http://www.w3.org/2006/vcard/ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "geosparql": "http://www.opengis.net/ont/geosparql#",
    "mobilitydcatap": "https://w3id.org/mobilitydcat-ap#",
}
_CROISSANT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
    **{
        name: f"cr:{name}"
        for name in (
            *("citeAs", "column", "equivalentProperty", "extract", "field", "fileObject", "fileProperty"),
            *(
                "fileSet",
                "format",
                "includes",
                "isLiveDataset",
                "jsonPath",
                "key",
                "md5",
                "parentField",
                "path",
            ),
            *(
                "recordSet",
                "references",
                "regex",
                "repeated",
                "replace",
                "samplingRate",
                "separator",
                "source",
            ),
            *("subField", "transform"),
        )
    },
}
"""The context that Croissant 1.0 asks to be written as it is."""
