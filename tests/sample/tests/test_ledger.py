from abacus import Ledger, Overflow
import pytest


def test_adds():
    assert Ledger().add(1, 2) == 3


class TestOverflow:
    def test_raises(self):
        with pytest.raises(Overflow):
            Ledger().add(10**10)
