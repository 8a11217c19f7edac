"""A report of the synthetic ledger, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from lipverify.claims.ledger import Ledger
from tests.ledgers import realistic
from tests.report.pages import pdf


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reports")


@pytest.fixture(scope="session")
def book() -> Ledger:
    return realistic()


@pytest.fixture(scope="session")
def printed(book: Ledger, folder: Path) -> bytes:
    return pdf(book, folder)
