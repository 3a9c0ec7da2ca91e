"""What a user's own network may do wrong: each ends with one sentence before any work, and none ends the check as if all were well."""

import signal
import sys

import pytest

from pipeline.networks import dry_run as tried
from pipeline.networks.dry_run import DryRun, dry_run
from pipeline.project.errors import InputError, Stopped
from tests.faults.networks import HERE, MODULES, UNUSABLE, own
from tests.faults.own_networks import ERRORS


@pytest.mark.parametrize(("specification", "sentence"), UNUSABLE)
def test_it_ends_with_one_sentence(specification, sentence):
    with pytest.raises(InputError) as caught:
        dry_run(specification, (2, 32, 32), 2)
    said = str(caught.value)
    assert len(said.splitlines()) == 1
    assert said.startswith(f"{specification['network']} {sentence}")


def test_what_is_unusual_but_sound():
    linear = 2 * 2048 * 2
    assert dry_run(own("half_frozen"), (2, 32, 32), 2) == DryRun(4 * (2 * 2049 + 12), linear)
    assert dry_run(own(returning="a warning"), (2, 32, 32), 2).operations == linear
    assert dry_run(own("usual"), (2, 32, 32), 2).operations == 2 * (2048 * 8 + 2 * 64 + 16)


def test_a_network_that_is_never_done(monkeypatch):
    monkeypatch.setattr(tried, "LONGEST", 0.1)
    before = signal.getsignal(signal.SIGALRM)
    for stubborn in (False, True):
        with pytest.raises(InputError, match=f"^{HERE}:waiting cannot be run: it was not done after 0.1 seconds$"):
            dry_run(own("waiting", stubborn=stubborn), (2, 32, 32), 2)
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_a_trial_that_the_user_stops_is_stopped(monkeypatch):
    monkeypatch.setitem(ERRORS, "exit", Stopped(signal.SIGINT))
    with pytest.raises(Stopped):
        dry_run(own(running="exit"), (2, 32, 32), 2)
    monkeypatch.setitem(ERRORS, "exit", KeyboardInterrupt())
    # Whoever runs these tests may have them ignore Ctrl-C, as a shell's `&` does.
    monkeypatch.setattr(tried, "_may_be_interrupted", lambda: True)
    with pytest.raises(KeyboardInterrupt):
        dry_run(own(running="exit"), (2, 32, 32), 2)
    # In a stage Ctrl-C is `Stopped`, so this is the network's own doing.
    monkeypatch.setattr(tried, "_may_be_interrupted", lambda: False)
    with pytest.raises(InputError, match=r"cannot be run: KeyboardInterrupt:$"):
        dry_run(own(running="exit"), (2, 32, 32), 2)


@pytest.mark.parametrize(
    ("text", "sentence"),
    MODULES,
)
def test_a_module_of_ones_own_that_does_not_do(text, sentence, tmp_path, monkeypatch):
    (tmp_path / "own_module.py").write_bytes(text if isinstance(text, bytes) else text.encode())
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "own_module", raising=False)
    with pytest.raises(InputError) as caught:
        dry_run({"network": "own_module:net"}, (2, 32, 32), 2)
    assert str(caught.value).startswith(sentence) and len(str(caught.value).splitlines()) == 1
