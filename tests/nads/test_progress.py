"""Estimates made by the workers: what decides their keys, what is kept of them, and where they go on."""

import dataclasses
import functools
import io

import numpy as np
import pytest
import torch
from nads_samples import GRADIENT, SECANT, jacobians

from pipeline import networks
from pipeline.machine import store, workers
from pipeline.machine.claims import Claims
from pipeline.machine.store import Sums
from pipeline.nads import Covariance, Estimation, Leading, jacobian_of_untrained, progress
from pipeline.nads.progress import Recipe, Task, finished, jacobian, key

SHAPE = (1, 8, 8)
SMALL = {"network": "pipeline.networks.mlp:MLP", "hidden": [8, 4], "side": 8}
RECIPE = Recipe(SMALL, SHAPE, (0, "net"), GRADIENT, "cpu")
IN_PROCESS = torch.device("cuda")
"""The device for which the work is done in this process; the recipe's own is the CPU."""


def task(folder, networks, target_error=None, name="net", recipe=RECIPE, shape=SHAPE):
    """An empty estimate of which something may have been kept."""
    return Task(name, recipe, Estimation(Covariance(shape), networks, target_error), Sums(folder, name))


def started(folder, *arguments, **others):
    """A task whose first network has been asked for."""
    made = task(folder, *arguments, **others)
    made.restore()
    next(made.numbers(), None)
    return made


def test_a_worker_makes_the_jacobian_of_the_networks_number():
    build = lambda seed: networks.build(SMALL, 1, 1, seed)
    for number in (0, 3):
        expected = jacobian_of_untrained(build, SHAPE, number, (0, "net"), GRADIENT)
        np.testing.assert_array_equal(jacobian(None, (RECIPE, number)), expected)
    colour = dataclasses.replace(RECIPE, specification=SMALL | {"side": 4}, shape=(3, 4, 4))
    assert jacobian(None, (colour, 0)).shape == (4, 48)
    plain = dataclasses.replace(RECIPE, estimator=dataclasses.replace(GRADIENT, method="plain"))
    assert jacobian(None, (plain, 0)).shape == (1, 64)


def test_a_key_holds_all_that_decides_the_sums_and_nothing_else():
    covariance = Covariance(SHAPE)
    changed = lambda **fields: key(dataclasses.replace(RECIPE, **fields), covariance)
    same = key(RECIPE, covariance)
    kept_out = dataclasses.replace(GRADIENT, compare=True, symmetry=False)
    assert changed(estimator=kept_out) == key(RECIPE, Covariance(SHAPE)) == same
    assert changed(device="cuda:0") == changed(device="cuda:1") != same
    others = [
        changed(device="cuda"),
        changed(identity=(1, "net")),
        changed(identity=(0, "other")),
        changed(shape=(3, 8, 8)),
        changed(specification=SMALL | {"hidden": [8, 5]}),
        changed(specification={"network": "pipeline.networks.mlp:LogReg", "side": 8}),
        changed(estimator=SECANT),
        changed(estimator=dataclasses.replace(GRADIENT, method="plain")),
        changed(estimator=dataclasses.replace(GRADIENT, step=99.0)),
        changed(estimator=dataclasses.replace(GRADIENT, point="many")),
        key(RECIPE, Covariance(SHAPE, "square")),
        key(RECIPE, Leading(SHAPE, 3)),
    ]
    assert len({same, *others}) == len(others) + 1


def test_a_key_holds_the_code_that_makes_the_sums(monkeypatch):
    roots = []
    monkeypatch.setattr(progress.closure, "digest", lambda *things: roots.extend(things) or "code")
    covariance = Covariance(SHAPE)
    key(RECIPE, covariance)
    assert roots == [
        jacobian,
        SMALL["network"],
        (Estimation, "add"),
        covariance.add,
        covariance.state,
        covariance.restore,
        covariance.error,
    ]


class Terminal(io.StringIO):
    """A file on which bars are drawn."""

    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    """A terminal on which the bars of estimates are drawn."""
    file = Terminal()
    monkeypatch.setattr(progress, "tqdm", functools.partial(progress.tqdm, file=file))
    return file


@pytest.fixture
def clock(monkeypatch):
    """A list of the seconds that the clock shows."""
    seconds = [1000.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: seconds[0])
    return seconds


@pytest.mark.usefixtures("terminal")
def test_what_is_kept_takes_the_place_of_what_this_run_kept_before(tmp_path, clock):
    samples = jacobians(9, 2, SHAPE)
    first = started(tmp_path, 4)
    for number in range(4):
        clock[0] += 31
        first.take(number, samples[number])
        assert first.sums.counts() == [number + 1]
    more = started(tmp_path, 9)
    assert more.estimation.accumulator.count == 4
    assert list(more.numbers()) == [4, 5, 6, 7, 8]
    for number in (5, 4, 6):
        clock[0] += 31
        more.take(number, samples[number])
    assert more.sums.counts() == [7, 4], "what another run kept stays"
    assert more.bar.n == 7
    np.testing.assert_array_equal(more.sums.get(7)["trace"], more.estimation.trace)
    more.keep()
    assert more.sums.counts() == [7, 4], "what is there is not written again"


def test_sums_are_kept_at_the_end_and_now_and_then_before(tmp_path, clock):
    samples = jacobians(7, 2, SHAPE)
    made = started(tmp_path, 7)
    assert made.minutes == 0
    for seconds, number, counts in ((30, 0, []), (1, 1, [2]), (30, 2, [2]), (0.5, 3, [4]), (1, 4, [4])):
        clock[0] += seconds
        made.take(number, samples[number])
        assert made.sums.counts() == counts
    assert made.minutes == pytest.approx(62.5 / 60)
    made.take(5, samples[5])
    assert made.sums.counts() == [4]
    made.take(6, samples[6])
    assert made.sums.counts() == [7], "it is finished"


def test_a_slow_disk_is_written_to_a_tenth_of_the_time(tmp_path, clock):
    made = started(tmp_path, 7)
    made.take(0, jacobians(1, 2, SHAPE)[0])
    put = made.sums.put

    def slowly(count, state):
        clock[0] += 8
        put(count, state)

    made.sums.put = slowly
    made.keep()
    assert made.due == 1008 + 80
    made.keep()
    assert made.due == 1008 + 30, "nothing was written"


def test_nothing_is_kept_of_nothing(tmp_path):
    made = started(tmp_path, 4)
    made.keep()
    assert made.sums.counts() == []


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize(
    ("networks", "target_error", "count"),
    [(12, None, 12), (20, None, 12), (11, None, 8), (7, None, 0), (12, 0.99, 0), (12, 1e-9, 12)],
)
def test_an_estimate_goes_on_from_the_most_networks_that_it_may_hold(tmp_path, networks, target_error, count):
    """Kept are 8 and 12; the error 0.99 was reached at the first look, after 4, which are not kept."""
    samples = jacobians(12, 2, SHAPE)
    for number in (8, 12):
        whole = started(tmp_path / "elsewhere", number)
        for each in range(number):
            whole.estimation.add(each, samples[each])
        Sums(tmp_path, "net").put(number, whole.estimation.state())
    resumed = started(tmp_path, networks, target_error)
    assert resumed.estimation.accumulator.count == count
    assert [look for look, _ in resumed.estimation.trace] == [look for look in (4, 6, 8, 10, 12) if look <= count]
    assert list(resumed.numbers()) == list(range(count, networks))
    assert resumed.bar.n == count


def test_an_estimate_that_stopped_at_its_error_is_whole(tmp_path):
    samples = jacobians(300, 4, SHAPE)
    first = started(tmp_path, 300, 0.3)
    for number in range(300):
        if not first.estimation.finished:
            first.take(number, samples[number])
    (count,) = first.sums.counts()
    assert 4 < count < 300
    again = started(tmp_path, 300, 0.3)
    assert again.estimation.finished
    assert list(again.numbers()) == []
    assert again.estimation.accumulator.count == count


def sums_of_four_and_six(folder):
    """Keep the sums of four networks and of six; the file of the latter."""
    samples, whole = jacobians(6, 2, SHAPE), task(folder, 6)
    for number in range(6):
        whole.estimation.add(number, samples[number])
        if number in (3, 5):
            whole.sums.put(number + 1, whole.estimation.state())
    return folder / "nads" / "net" / "0000006.safetensors"


def test_a_broken_file_is_passed_over(tmp_path):
    path = sums_of_four_and_six(tmp_path)
    for cut in (100, 1500):
        path.write_bytes(path.read_bytes()[:-cut])
        resumed = started(tmp_path, 6)
        assert resumed.estimation.accumulator.count == 4


def test_sums_in_which_one_bit_has_turned_are_passed_over(tmp_path, capsys):
    path = sums_of_four_and_six(tmp_path)
    content = bytearray(path.read_bytes())
    content[-100] ^= 4
    path.write_bytes(content)
    resumed = started(tmp_path, 6)
    assert resumed.estimation.accumulator.count == 4
    assert capsys.readouterr().err == (
        f"notice: {path} is damaged and counts as not kept: the digest is not that of the contents\n"
    )
    for number in (4, 5):
        resumed.take(number, jacobians(6, 2, SHAPE)[number])
    assert resumed.sums.get(6) is not None, "and made again"


@pytest.mark.usefixtures("terminal")
def test_the_bar_shows_networks_error_and_what_is_expected(tmp_path):
    samples = jacobians(300, 4, SHAPE)
    made = started(tmp_path, 300, 0.3)
    assert made.bar.total == 300
    for number in range(6):
        made.take(number, samples[number])
    assert made.bar.n == 6
    assert made.bar.total == made.estimation.expected_networks() < 300
    assert made.bar.postfix == f"error={made.estimation.trace[-1][1]:.3f}"
    assert made.bar.desc.startswith("estimate net")
    assert made.bar.unit == "network"


def directly(count, target_error=None, recipe=RECIPE):
    """The NADs of an estimate without workers or store."""
    estimation = Estimation(Covariance(SHAPE), count, target_error)
    for number in range(count):
        estimation.add(number, jacobian(None, (recipe, number)))
    return estimation.nads(recipe.estimator)


@pytest.mark.usefixtures("terminal")
def test_estimates_end_in_their_order_with_their_nads(tmp_path):
    other = dataclasses.replace(RECIPE, identity=(0, "other"), estimator=SECANT)
    expected = [directly(12, 0.93), directly(4, recipe=other)]
    assert expected[0].networks == 8, "before all networks are there"
    for reuse, sampled in ((True, 1), (True, 0), (False, 1)):
        tasks = [task(tmp_path, 12, 0.93), task(tmp_path, 4, name="other", recipe=other)]
        seen = []
        for ended, nads in finished(tasks, IN_PROCESS, reuse):
            seen.append((ended, nads))
            assert ended.estimation is None, "the sums are let go"
            assert ended.bar.disable, "the bar is closed"
        assert [ended for ended, _ in seen] == tasks
        for (_, nads), whole in zip(seen, expected, strict=True):
            for field in dataclasses.fields(nads):
                np.testing.assert_array_equal(getattr(nads, field.name), getattr(whole, field.name))
        assert (sum(ended.kept is not None for ended, _ in seen) > 0) == (sampled > 0 and reuse)


def test_only_what_was_not_kept_is_sampled_again(tmp_path, monkeypatch):
    calls = []

    def run(function, work, make_context, device):
        for position, item in enumerate(work):
            calls.append(item[1])
            yield position, function(make_context(), item)

    monkeypatch.setattr(workers, "run", run)
    list(finished([task(tmp_path, 5)], IN_PROCESS, True))
    assert calls == [0, 1, 2, 3, 4]
    list(finished([task(tmp_path, 8)], IN_PROCESS, True))
    assert calls[5:] == [5, 6, 7]
    list(finished([task(tmp_path, 8)], IN_PROCESS, True))
    assert len(calls) == 8
    list(finished([task(tmp_path, 8)], IN_PROCESS, False))
    assert calls[8:] == list(range(8))


def test_an_estimate_is_given_when_it_ends_before_the_next_begins(tmp_path):
    tasks = [task(tmp_path, 4), task(tmp_path, 4, name="other")]
    ended, _ = next(finished(tasks, IN_PROCESS, True))
    assert ended is tasks[0]
    assert tasks[1].bar is None


@pytest.mark.parametrize("order", [list, reversed])
def test_results_may_come_in_any_order_and_after_the_end(tmp_path, monkeypatch, order):
    """As from many workers: the next estimate has begun, and networks beyond the error are done, when the first ends."""

    def run(function, work, make_context, device):
        for position, item in order(list(zip(range(16), work))):
            yield position, function(make_context(), item)

    monkeypatch.setattr(workers, "run", run)
    other = dataclasses.replace(RECIPE, identity=(0, "other"))
    found = list(finished([task(tmp_path, 12, 0.93), task(tmp_path, 4, name="other", recipe=other)], IN_PROCESS, True))
    assert [ended.name for ended, _ in found] == ["net", "other"]
    for (_, nads), whole in zip(found, [directly(12, 0.93), directly(4, recipe=other)]):
        np.testing.assert_array_equal(nads.directions, whole.directions)
        assert nads.networks == whole.networks


def test_a_failure_is_raised_after_what_was_done_is_kept(tmp_path, monkeypatch):
    def run(function, work, make_context, device):
        for position, item in enumerate(work):
            yield position, function(make_context(), item) if item[1] < 3 else ValueError("no memory")

    monkeypatch.setattr(workers, "run", run)
    tasks = [task(tmp_path, 8), task(tmp_path, 8, name="later")]
    with pytest.raises(ValueError, match="no memory"):
        list(finished(tasks, IN_PROCESS, True))
    assert tasks[0].sums.counts() == [3]
    assert tasks[1].bar is None


def test_an_estimate_ends_at_its_time_with_what_is_done_by_then_and_goes_on_from_there(tmp_path, monkeypatch):
    """A network a second from the first one on, which comes after nine: twenty of them are done at 28.5 seconds."""
    clock = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    made = lambda limit: Task("net", RECIPE, Estimation(Covariance(SHAPE), 1000), Sums(tmp_path, "net"), limit)

    def run(task):
        task.restore()
        for number in task.numbers():
            clock[0] += 9 if task.first is None else 1
            task.take(number, jacobian(None, (RECIPE, number)))
        return task.estimation

    estimation = run(made(28.5))
    assert estimation.finished and estimation.accumulator.count == estimation.networks == 20
    further = run(made(clock[0] + 14.5))
    assert further.accumulator.count == 26 and Sums(tmp_path, "net").counts() == [26, 20]
    whole = task(tmp_path / "other", 26)
    whole.numbers().__next__()
    for number in range(26):
        whole.take(number, jacobian(None, (RECIPE, number)))
    np.testing.assert_array_equal(further.accumulator.sums, whole.estimation.accumulator.sums)


def test_an_estimate_whose_time_is_over_takes_the_fewest_networks_that_have_an_error(tmp_path):
    (found,) = finished(
        [Task("net", RECIPE, Estimation(Covariance(SHAPE), 1000), Sums(tmp_path, "net"), 0.0)], IN_PROCESS, True
    )
    assert found[1].networks == progress.FIRST_CHECK and np.isfinite(found[1].error)


class Held(Claims):
    """Claims of a run beside which another makes the NADs of `net`, which are there when it lets them go."""

    theirs = True

    def take(self, key):
        return not (self.theirs and key == store.digest("net")) and super().take(key)

    def wait(self, key):
        self.theirs = False
        (_,) = finished([task(self.path.parent, 8)], IN_PROCESS, True)
        super().wait(key)


def test_an_estimate_that_another_run_has_under_way_is_waited_for_and_not_made_again(tmp_path, monkeypatch, capsys):
    sampled, sample = [], progress.jacobian
    monkeypatch.setattr(progress, "jacobian", lambda _, work: sampled.append(work[0].identity[1]) or sample(_, work))
    held = type("Once", (Held,), {"wait": lambda self, key: monkeypatch.undo() or Held.wait(self, key)})
    monkeypatch.setattr(progress, "Claims", held)
    other = dataclasses.replace(RECIPE, identity=(0, "other"))
    tasks = [task(tmp_path, 8), task(tmp_path, 8, name="other", recipe=other)]
    found = [(each.name, nads.networks) for each, nads in finished(tasks, IN_PROCESS, True)]
    assert found == [("other", 8), ("net", 8)]
    assert sampled == ["other"] * 8
    assert "notice: another run makes the NADs of net; this one waits for them\n" in capsys.readouterr().err
