"""The API against what it tells of itself: requests that nobody chose, and answers as they are declared."""

from __future__ import annotations

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from starlette.testclient import TestClient

from worlds.depth import size

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.fixture
def quick(studio, monkeypatch):
    """A studio with a run to ask for; what is asked of other programs is made up, so nothing takes long."""

    async def cost(question):
        return {"trips": 1}

    for subject in ("results", "approvals"):
        monkeypatch.setattr(
            f"tripcloak.studio.routes.{subject}.asked_at_once", lambda line, **more: {"line": line}
        )
    monkeypatch.setattr(studio.desk.previewer, "ask", cost)
    studio.ended(studio.run())
    (studio.desk.workspace.run_folder(1) / "report.html").write_text("<p>report</p>")
    return studio


def test_every_answer_is_one_that_the_api_declares(quick):
    told = quick.client.get("/api/openapi.json").json()
    schema = schemathesis.openapi.from_dict(told)
    schema.config.generation.update(allow_x00=True)
    tried = []
    for found in schema.get_all_operations():
        operation = found.ok()
        tried.append(operation.label)
        _try(quick.client, operation)
    assert len(tried) == sum(map(len, told["paths"].values()))


def _try(client: TestClient, operation) -> None:
    @settings(
        max_examples=size(6, 400),
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def one(case) -> None:
        asked = case.as_transport_kwargs(base_url=str(client.base_url))
        case.validate_response(client.request(**asked), checks=CHECKS)

    one()
