"""The ledger's store: a private folder with a chain of entries, a key, and the records of every release."""

from tripcloak.ledger.store.ledger import Ledger, init_ledger, open_ledger
from tripcloak.ledger.store.releases import Approval, RecordedRelease

__all__ = ["Approval", "Ledger", "RecordedRelease", "init_ledger", "open_ledger"]
