"""Many networks trained step by step together on one GPU, each as `pipeline.training.train` trains it alone.

A GPU given one small network spends its time on starting kernels. What helps depends on the network, which says so itself
(`networks.together`):

- 'stack': weights and data of many networks lie in tensors (M, …), and each layer of all of them is one batched product;
- 'graph': a network with batch norm keeps a step of its own, and several run at a time, each on its own stream.

Either way a step reads and writes the same memory each time and never asks the device for a number, so it is recorded once as
a CUDA graph and then replayed: Python's time no longer counts. Nothing here needs a GPU but that recording; on a CPU the steps
are called as they are, which is how they are tested.
"""

import contextlib
import time
import weakref

import torch
import torch.nn.functional as F
from torch import nn
from torch.overrides import TorchFunctionMode

from pipeline.training.single import BATCH, SCHEDULES, Diverged, arranged, multiplying, outcome

WARM_UP = 3
"""Steps that run before one is recorded: libraries choose their kernels and reserve memory in the first ones."""

AT_ONCE = {"stack": 128, "graph": 4, "alone": 1}
"""Networks in one call of `train`, by how they are trained together."""


class Recorded:
    """A function of no arguments on fixed tensors: called as it is `WARM_UP` times, then recorded and replayed."""

    def __init__(self, function):
        self.function, self.calls, self.graph = function, 0, None

    def __call__(self):
        if self.calls == WARM_UP:
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph, stream=torch.cuda.current_stream()):
                self.function()
        self.calls += 1
        self.graph.replay() if self.graph else self.function()


class Unfolded(TorchFunctionMode):
    """Context in which a plain convolution is one matrix product of its filters with all patches of all inputs."""

    def __torch_function__(self, function, types, arguments=(), keywords=None):
        if function is F.conv2d:
            function = unfolded_convolution
        return function(*arguments, **(keywords or {}))


def unfolded_convolution(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """`F.conv2d` of input (N, C, H, W) with filters (O, C, k, l), as a matrix product where nothing is padded, dilated or grouped.

    Returns (N, O, H', W'). Anything else is PyTorch's own convolution.
    """
    pair = lambda value: (value, value) if isinstance(value, int) else tuple(value)
    padded = padding != "valid" and (padding == "same" or any(pair(padding)))
    if input.dim() != 4 or padded or pair(dilation) != (1, 1) or groups != 1:
        return F.conv2d(input, weight, bias, stride, padding, dilation, groups)
    stride, sides = pair(stride), weight.shape[-2:]
    height, width = ((input.shape[2 + axis] - sides[axis]) // stride[axis] + 1 for axis in (0, 1))
    patches = F.unfold(input, sides, stride=stride).transpose(0, 1).flatten(1)  # (C·k·l, N·H'·W')
    filters = weight.flatten(1)
    maps = filters @ patches if bias is None else torch.addmm(bias[:, None], filters, patches)
    return maps.unflatten(1, (-1, height, width)).transpose(0, 1)


CONVOLUTIONS = {"grouped": contextlib.nullcontext, "unfolded": Unfolded}
"""Ways in which a stack convolves: PyTorch's own vmap makes a grouped convolution of M networks'."""


class Stack:
    """M networks that take each step of training together: their weights, momenta and data on one device.

    networks: alike but for their weights; sets: as many pairs of inputs (N, C, H, W) and class numbers (N,), of equal shapes;
    seeds: of their orders; stacked: whether one batched forward pass serves all of them (else M must be 1); record: makes of a
    function of no arguments one that repeats it.
    """

    def __init__(self, networks, sets, how, seeds, device, stacked, record):
        self.networks, self.how, self.device, self.stacked = networks, how, device, stacked
        self.orders = [torch.Generator().manual_seed(seed) for seed in seeds]
        count = len(networks)
        for position, (x, y) in enumerate(sets):
            if position == 0:
                self.samples = len(x)
                self.x = torch.empty(count, *x.shape, device=device, dtype=x.dtype)
                self.y = torch.empty(count, len(y), device=device, dtype=y.dtype)
            self.x[position].copy_(x)
            self.y[position].copy_(y)
        self.x, self.y = self.x.flatten(0, 1), self.y.flatten()
        if not stacked:
            self.x = arranged(self.x, device)
        # The first one is called with everyone's weights; what else it holds must be on the device.
        networks[0].to(device, memory_format=torch.preserve_format if stacked else torch.channels_last)
        self.names = [name for name, _ in networks[0].named_parameters()]
        own = [dict(network.named_parameters()) for network in networks]
        # One network's weights keep their layout, which stacking would undo.
        self.weights = [
            torch.stack([w[name].detach().to(device) for w in own]) if stacked else own[0][name].detach()[None].clone()
            for name in self.names
        ]
        for weight in self.weights:
            weight.requires_grad_()
        self.momenta = [torch.zeros_like(weight) for weight in self.weights]
        self.rate = torch.zeros((), device=device, dtype=self.weights[0].dtype)
        self.loss, self.correct = (torch.zeros(count, device=device, dtype=self.rate.dtype) for _ in range(2))
        self.losses = torch.zeros(how.epochs, -(-self.samples // BATCH), count, device=device, dtype=self.rate.dtype)
        # The last batch of an epoch is smaller, and a step's tensors are fixed: so there are two steps.
        lengths = {min(BATCH, self.samples - start) for start in range(0, self.samples, BATCH)}
        self.rows = {length: torch.zeros(count, length, device=device, dtype=torch.int64) for length in lengths}
        # Steps that held the stack would keep the memory of a finished one until the garbage collector comes by.
        this = weakref.proxy(self)
        self.steps = {length: record(lambda rows=rows: this.step(rows)) for length, rows in self.rows.items()}
        self.record, self.convolving = record, "grouped"
        for network in networks:
            network.train()

    def outputs(self, rows):
        """Outputs (M, B, K) of every network on its own samples, numbers of rows of `x` (M, B)."""
        with multiplying(self.device, self.how.precision), CONVOLUTIONS[self.convolving]():
            if self.stacked:
                one = lambda weights, x: torch.func.functional_call(self.networks[0], weights, (x,))
                return torch.func.vmap(one)(dict(zip(self.names, self.weights)), self.x[rows])
            weights = {name: weight.squeeze(0) for name, weight in zip(self.names, self.weights)}
            return torch.func.functional_call(self.networks[0], weights, (self.x[rows[0]],))[None]

    def gradients(self, rows):
        """Loss (M,), correct answers (M,) and gradients (a list like `weights`) of every network on its samples."""
        outputs, target = self.outputs(rows).to(self.rate.dtype), self.y[rows]
        losses = F.cross_entropy(outputs.flatten(0, 1), target.flatten(), reduction="none").view(rows.shape).mean(1)
        # No network's loss depends on another's weights, so the sum's gradients are each network's own.
        gradients = torch.autograd.grad(losses.sum(), self.weights)
        return losses.detach(), (outputs.detach().argmax(2) == target).sum(1), list(gradients)

    def step(self, rows):
        """One step of SGD of every network, each with its own gradient's norm clipped."""
        self.update(*self.gradients(rows))

    def update(self, losses, correct, gradients):
        """What a step does with a batch's `gradients`."""
        with torch.no_grad():
            norms = torch.stack([torch.linalg.vector_norm(g.flatten(1), dim=1) for g in gradients]).norm(dim=0)
            # As `nn.utils.clip_grad_norm_` does it.
            scale = (self.how.clip / (norms + 1e-6)).clamp(max=1)
            gradients = torch._foreach_mul(gradients, [scale.view(-1, *[1] * (g.dim() - 1)) for g in gradients])
            torch._foreach_add_(gradients, self.weights, alpha=self.how.weight_decay)
            torch._foreach_mul_(self.momenta, self.how.momentum)
            torch._foreach_add_(self.momenta, gradients)
            torch._foreach_sub_(self.weights, torch._foreach_mul(self.momenta, self.rate))
            self.loss.copy_(losses)
            self.correct += correct

    def try_convolutions(self):
        """Keep whichever of `CONVOLUTIONS` is faster here: a few forward and backward passes of each, nothing is changed.

        What is timed is what training repeats: the recorded passes, without the time that Python takes to start them.
        """
        convolutions = [module for module in self.networks[0].modules() if isinstance(module, nn.Conv2d)]
        if not self.stacked or not convolutions:
            return
        rows, times = self.rows[max(self.rows)], {}
        for way in CONVOLUTIONS:
            self.convolving = way
            passes = self.record(lambda: self.gradients(rows))
            # The first ones warm up, and the next one is recorded.
            for repetition in range(2 * WARM_UP + 1):
                if repetition == WARM_UP + 1:
                    torch.cuda.synchronize()
                    started = time.perf_counter()
                passes()
            torch.cuda.synchronize()
            times[way] = time.perf_counter() - started
        self.convolving = min(times, key=times.get)

    def shuffle(self):
        """A new order of the samples for each network, as `training.train` draws it."""
        rows = [torch.randperm(self.samples, generator=order) for order in self.orders]
        first = torch.arange(len(rows))[:, None] * self.samples
        self.order = (torch.stack(rows) + first).to(self.device)
        self.correct.zero_()

    def take(self, epoch, batch, rate):
        """The step on one batch of an epoch's order."""
        rows = self.order[:, batch * BATCH : (batch + 1) * BATCH]
        self.rows[rows.shape[1]].copy_(rows)
        self.rate.fill_(rate)
        self.steps[rows.shape[1]]()
        self.losses[epoch, batch].copy_(self.loss)

    def results(self):
        """The `Outcome`, or Diverged, of each network, its weights written back into it."""
        found = []
        for position, network in enumerate(self.networks):
            with torch.no_grad():
                for parameter, weight in zip(network.parameters(), self.weights):
                    parameter.copy_(weight[position])
            try:
                found.append(outcome(self.losses[:, :, position], self.correct[position], self.samples))
            except Diverged as error:
                found.append(error)
        return found


def train(networks, sets, how, seeds, device, together):
    """Train `networks` in place, each on its own set as `training.train` would; returns what that gives for each, in a list.

    networks: alike but for their weights; sets: an iterable of as many (x, y), read one after another; seeds: one each;
    together: 'stack' or 'graph'. In place of a result stands the Diverged of a network whose loss is no number, which touches
    no other.
    """
    cuda = device.type == "cuda"
    record = Recorded if cuda else lambda function: function
    if together == "stack":
        parts = [(networks, sets, seeds)]
    else:
        parts = zip(([network] for network in networks), ([pair] for pair in sets), ([seed] for seed in seeds))
    with torch.random.fork_rng(devices=[device] if cuda else []):
        torch.manual_seed(seeds[0])
        stacks = [Stack(n, pairs, how, s, device, together == "stack", record) for n, pairs, s in parts]
        batches = stacks[0].losses.shape[1]
        rates = iter(SCHEDULES[how.schedule](how.epochs * batches, how.lr))
        streams = [torch.cuda.stream(torch.cuda.Stream()) if cuda else contextlib.nullcontext() for _ in stacks]
        if cuda:
            # Nothing can be recorded on the default stream.
            with streams[0]:
                stacks[0].try_convolutions()
            torch.cuda.synchronize()
        for epoch in range(how.epochs):
            for stack, stream in zip(stacks, streams):
                with stream:
                    stack.shuffle()
            for batch in range(batches):
                rate = float(next(rates))
                for stack, stream in zip(stacks, streams):
                    with stream:
                        stack.take(epoch, batch, rate)
        if cuda:
            torch.cuda.synchronize()
        return [result for stack in stacks for result in stack.results()]


def at_once(network, together):
    """Networks like `network` to be trained in one call: those that draw random numbers, as dropout does, one by one.

    The device has one stream of random numbers, so what one network drew would depend on those beside it.
    """
    draws = any(isinstance(module, nn.modules.dropout._DropoutNd) and module.p for module in network.modules())
    return 1 if draws else AT_ONCE[together]
