"""Networks trained together give what each gives alone; their steps can be recorded. On the CPU, in float64."""

import contextlib
import copy
import dataclasses
import gc
import weakref

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.fx.experimental.proxy_tensor import make_fx

from pipeline import networks as table
from pipeline.training import ensembles
from pipeline.training import single as training

CPU = torch.device("cpu")
HOW = training.Training(epochs=2, lr=0.2, momentum=0.9, weight_decay=1e-3)
STACKED = [
    {"network": "logreg"},
    {"network": "mlp", "hidden": [6, 4]},
    {"network": "lenet"},
    {"network": "lenet", "downsampling": "stride"},
    {"network": "lenet", "downsampling": "none", "side": 16},
]
ALONG = [{"network": "resnet18", "width": 0.125}, {"network": "densenet121", "growth": 4, "blocks": [1, 1]}]
DROPPING = {"network": "vgg11", "width": 0.125}


def built(architecture, channels, outputs, seed):
    """A network of the table."""
    return table.build(table.specification(architecture), channels, outputs, seed)


def cells(specification, count=3, samples=150):
    """Networks with weights of their own, data of their own (150 samples: a batch of 128 and one of 22), and seeds."""
    side = specification.get("side", 16 if "growth" in specification else 8 if specification in ALONG else 32)
    networks = [built(specification, 2, 2, seed).double() for seed in range(count)]
    sets = []
    for seed in range(count):
        x = torch.randn(
            samples, 2, side, side, dtype=torch.float64, generator=torch.Generator().manual_seed(100 + seed)
        )
        sets.append((x * (1 + 3 * seed), (x[:, 0].mean((1, 2)) > 0).long()))
    return networks, sets, [7 + seed for seed in range(count)]


def alone(networks, sets, seeds, how=HOW):
    """What `training.train` makes of copies of the networks."""
    networks = copy.deepcopy(networks)
    results = [
        training.train(network, training.arranged(x, CPU), y, how, seed)
        for network, (x, y), seed in zip(networks, sets, seeds)
    ]
    return networks, results


def same(ours, theirs, atol=1e-9):
    (networks, results), (alone_networks, alone_results) = ours, theirs
    for network, expected in zip(networks, alone_networks):
        for (name, tensor), other in zip(network.state_dict().items(), expected.state_dict().values()):
            torch.testing.assert_close(tensor, other, rtol=0, atol=atol, msg=lambda text, name=name: f"{name}: {text}")
    for found, expected in zip(results, alone_results):
        assert found.losses == pytest.approx(expected.losses, abs=1e-6)
        assert (found.accuracy, found.steps) == (pytest.approx(expected.accuracy), expected.steps)


@pytest.mark.parametrize("specification", [*STACKED, *ALONG, DROPPING], ids=lambda s: "-".join(map(str, s.values())))
@pytest.mark.slow
def test_together_as_alone(specification):
    together = table.together(table.specification(specification))
    networks, sets, seeds = cells(specification, count=1 if specification is DROPPING else 3)
    if specification is DROPPING:
        assert ensembles.at_once(networks[0], together) == 1, "what dropout draws must not depend on neighbours"
    expected = alone(networks, sets, seeds)
    results = ensembles.train(networks, iter(sets), HOW, seeds, CPU, together)
    same((networks, results), expected)
    assert not torch.equal(next(networks[0].parameters()), next(networks[-1].parameters())) or len(networks) == 1


def test_the_built_in_networks_say_how_they_train_together():
    kinds = {name: table.together(table.specification({"network": name})) for name in table.NETWORKS}
    assert kinds == {
        "logreg": "stack",
        "mlp": "stack",
        "lenet": "stack",
        "vgg11": "graph",
        "resnet18": "graph",
        "densenet121": "graph",
    }
    assert table.together({"network": "torchvision.models:resnet18"}) == "alone"


def test_how_many_train_in_one_call():
    """Of a stack 128, of graphs 4, of others one; one of those that draw random numbers."""
    linear = torch.nn.Linear(1, 1)
    assert [ensembles.at_once(linear, together) for together in ("stack", "graph", "alone")] == [128, 4, 1]
    for dropout, size in ((torch.nn.Dropout(0.0), 4), (torch.nn.Dropout(0.1), 1), (torch.nn.Dropout2d(0.1), 1)):
        assert ensembles.at_once(torch.nn.Sequential(linear, dropout), "graph") == size


@pytest.mark.parametrize(("slow", "chosen"), [("grouped", "unfolded"), ("unfolded", "grouped")])
def test_the_faster_convolution_is_kept_and_nothing_is_changed(slow, chosen, monkeypatch):
    """A clock that runs only while gradients are computed, three times as long one way as the other."""
    stack, clock, calls = stack_of({"network": "lenet", "side": 16}), [0.0], []
    before = [weight.clone() for weight in stack.weights]

    def gradients(rows):
        calls.append((stack.convolving, rows.shape[1]))
        # The first three warm up, the next one is recorded: what they take shall not count.
        warm = calls.count((stack.convolving, 128)) <= ensembles.WARM_UP + 1
        clock[0] += 100.0 * (stack.convolving == chosen) if warm else 3.0 if stack.convolving == slow else 1.0

    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(ensembles.time, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(stack, "gradients", gradients)
    stack.try_convolutions()
    assert stack.convolving == chosen and calls == [("grouped", 128)] * 7 + [("unfolded", 128)] * 7
    assert all(torch.equal(one, other) for one, other in zip(stack.weights, before))


def test_where_nothing_is_convolved_in_a_stack_nothing_is_tried(monkeypatch):
    for specification in ({"network": "logreg"}, ALONG[0]):
        stack = stack_of(specification)
        monkeypatch.setattr(stack, "gradients", None)
        stack.try_convolutions()
        assert stack.convolving == "grouped"


def test_a_convolution_as_one_matrix_product():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(3, 2, 12, 10, dtype=torch.float64, generator=generator)
    weight = torch.randn(4, 2, 5, 5, dtype=torch.float64, generator=generator)
    bias = torch.randn(4, dtype=torch.float64, generator=generator)
    for stride in (1, 2, (2, 1)):
        found = ensembles.unfolded_convolution(x, weight, bias, stride)
        torch.testing.assert_close(found, F.conv2d(x, weight, bias, stride), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "arguments",
    [
        {"kernel_size": 3},
        {"kernel_size": (5, 3), "stride": (2, 1)},
        {"kernel_size": 3, "bias": False},
        {"kernel_size": 3, "padding": 1},
        {"kernel_size": 3, "padding": "same", "bias": False},
        {"kernel_size": 3, "padding": "valid"},
        {"kernel_size": 3, "padding": 2, "padding_mode": "reflect"},
        {"kernel_size": 3, "dilation": 2},
        {"kernel_size": 3, "groups": 2},
    ],
    ids=str,
)
def test_any_convolution_may_be_met_by_the_products(arguments):
    """`nn.Conv2d` calls with seven arguments, and with no bias where it has none; only what is plain is a product."""
    torch.manual_seed(0)
    layer, x = nn.Conv2d(2, 4, **arguments).double(), torch.randn(3, 2, 12, 10, dtype=torch.float64)
    plain, calls = set(arguments) <= {"kernel_size", "stride", "bias"} or arguments.get("padding") == "valid", []
    plain |= "padding_mode" in arguments  # which pads before it convolves
    with ensembles.Unfolded(), pytest.MonkeyPatch.context() as patch:
        unfold = F.unfold
        patch.setattr(F, "unfold", lambda *a, **k: calls.append(1) or unfold(*a, **k))
        found = layer(x)
    assert bool(calls) == plain
    torch.testing.assert_close(found, layer(x), rtol=0, atol=1e-12)
    with ensembles.Unfolded():
        torch.testing.assert_close(layer(x[0]), found[0], rtol=0, atol=1e-12)


@pytest.mark.parametrize("specification", [STACKED[0], ALONG[0]], ids=["stack", "graph"])
def test_a_finished_stack_is_gone_at_once(specification):
    """Its memory must be free before the next group's is asked for, garbage collector or not."""
    gc.collect()
    gc.disable()
    try:
        stack = stack_of(specification)
        stack.shuffle()
        stack.take(0, 0, 0.1)
        left = weakref.ref(stack)
        del stack
        assert left() is None
    finally:
        gc.enable()


def stack_of(specification, record=lambda function: function):
    networks, sets, seeds = cells(specification)
    stacked = table.together(table.specification(specification)) == "stack"
    if not stacked:
        networks, sets, seeds = networks[:1], sets[:1], seeds[:1]
    return ensembles.Stack(networks, sets, dataclasses.replace(HOW, epochs=3), seeds, CPU, stacked, record)


@pytest.mark.slow
def test_both_ways_to_convolve_give_the_same_gradients():
    stack = stack_of({"network": "lenet"})
    stack.shuffle()
    chosen = stack.order[:, :128]
    found = {}
    for stack.convolving in ensembles.CONVOLUTIONS:
        found[stack.convolving] = stack.gradients(chosen)
    for one, other in zip(found["grouped"][2], found["unfolded"][2]):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-12)


def fixed(stack):
    """The addresses of everything that a recorded step reads and writes."""
    network = stack.networks[0]
    tensors = [stack.x, stack.y, *stack.weights, *stack.momenta, *stack.rows.values(), stack.rate, stack.loss]
    return [tensor.data_ptr() for tensor in (*tensors, stack.correct, *network.buffers())]


@pytest.mark.parametrize(
    "specification",
    [
        STACKED[1],
        pytest.param(STACKED[2], marks=pytest.mark.slow),
        pytest.param(ALONG[0], marks=pytest.mark.slow),
    ],
    ids=["mlp", "lenet", "resnet18"],
)
@pytest.mark.slow
def test_a_step_can_be_recorded(specification):
    """A step is traced to its operations, as a graph holds them, and the trace is replayed instead: no step may look at a
    number on the host or make a tensor that the next one needs.
    """

    class Traced:
        def __init__(self, function):
            self.function, self.calls, self.trace = function, 0, None

        def __call__(self):
            self.calls += 1
            if self.calls == 2:
                rollback = [tensor.clone() for tensor in everything(stack)]
                self.trace = make_fx(lambda: self.function())()
                for tensor, value in zip(everything(stack), rollback):
                    tensor.data.copy_(value)
            with torch.set_grad_enabled(self.trace is None):
                self.trace() if self.trace else self.function()

    def everything(stack):
        mutable = [*stack.weights, *stack.momenta, stack.loss, stack.correct, *stack.networks[0].buffers()]
        return [tensor.detach() for tensor in mutable]

    plain, stack = stack_of(specification), None
    stack = stack_of(specification, Traced)
    for each in (plain, stack):
        before = fixed(each)
        for epoch in range(3):
            each.shuffle()
            for batch in range(2):
                each.take(epoch, batch, 0.1 + 0.01 * epoch)
        assert fixed(each) == before
    traces = [step.trace for step in stack.steps.values()]
    assert all(traces) and all(len(trace.graph.nodes) > 30 for trace in traces)
    same((plain.networks, plain.results()), (stack.networks, stack.results()), atol=1e-12)


def test_a_step_runs_a_few_times_then_is_recorded_once_and_replayed(monkeypatch):
    """The order of calls, with the GPU's graphs played by a stand-in: what is recorded does not run, so it is replayed too."""
    log, recording = [], []

    class Graph:
        def replay(self):
            log.append("replayed")

    @contextlib.contextmanager
    def record(graph, stream):
        assert isinstance(graph, Graph) and stream == "this stream"
        recording.append(graph)
        yield
        recording.clear()

    monkeypatch.setattr(torch.cuda, "CUDAGraph", Graph)
    monkeypatch.setattr(torch.cuda, "graph", record)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda: "this stream")
    step = ensembles.Recorded(lambda: log.append("recorded" if recording else "ran"))
    for _ in range(ensembles.WARM_UP + 3):
        step()
    assert log == ["ran"] * ensembles.WARM_UP + ["recorded"] + ["replayed"] * 3


def test_a_network_that_diverges_leaves_the_others_alone():
    networks, sets, seeds = cells({"network": "mlp", "hidden": [6, 4]})
    expected_networks, expected = alone([networks[0], networks[2]], [sets[0], sets[2]], [seeds[0], seeds[2]])
    sets[1] = (sets[1][0] * float("inf"), sets[1][1])
    results = ensembles.train(networks, sets, HOW, seeds, CPU, "stack")
    assert isinstance(results[1], training.Diverged) and "the training loss became nan" in str(results[1])
    same(([networks[0], networks[2]], [results[0], results[2]]), (expected_networks, expected))


def test_bfloat16_multiplies_in_bfloat16_and_learns_the_same():
    networks, sets, seeds = cells({"network": "mlp", "hidden": [16, 8]})
    networks, sets = [n.float() for n in networks], [(x.float(), y) for x, y in sets]
    how = training.Training(epochs=2, lr=0.05, momentum=0.9, weight_decay=0.0, precision="bfloat16")
    seen = set()
    hook = lambda module, inputs, output: seen.add(output.dtype)
    exact, _ = alone(networks, sets, seeds, training.Training(2, 0.05, 0.9, 0.0))
    rounded = copy.deepcopy(networks)
    handles = [network[1].register_forward_hook(hook) for network in rounded]
    for network, (x, y), seed in zip(rounded, sets, seeds):
        training.train(network, x, y, how, seed)
    assert seen == {torch.bfloat16} and next(rounded[0].parameters()).dtype == torch.float32
    for handle in handles:
        handle.remove()
    ensembles.train(networks, sets, how, seeds, CPU, "stack")
    for one, stacked, full in zip(rounded, networks, exact):
        ours, theirs, reference = (torch.cat([p.flatten() for p in n.parameters()]) for n in (one, stacked, full))
        assert 0 < (ours - reference).norm() / reference.norm() < 0.05
        assert (ours - theirs).norm() / reference.norm() < 0.02


def test_the_stack_restores_the_random_numbers_of_its_caller():
    networks, sets, seeds = cells({"network": "logreg"}, count=2)
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    with contextlib.suppress(training.Diverged):
        ensembles.train(networks, sets, HOW, seeds, CPU, "stack")
    assert torch.equal(torch.rand(2), expected)
