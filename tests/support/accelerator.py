"""An accelerator that is only pretended: its tensors compute on the CPU, meet no tensor
of the CPU but to be copied, as on a GPU, and are not of float64, as on Apple's. It
shows what is left behind, and nothing of speed."""

import math
import types

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

NAME = "pretended"
CASTS = ("conv2d", "linear", "matmul", "bmm", "scaled_dot_product_attention")
"""What `torch.autocast` computes in less precision there, of all that the CPU does."""

PRODUCTS = ("convolution", "addmm", "mm", "bmm")

STATE = types.SimpleNamespace(
    present=False, most=math.inf, refused=0, waits=0, on_cpu=set(), tape=None
)
"""present: whether the accelerator is there; most: numbers in one tensor, of more than
which there is no memory; refused: how many such tensors were asked for; waits: how
often the CPU has read its numbers, and waited for them; on_cpu: products that were
computed on the CPU all the same, but for those in float64."""

_module = types.SimpleNamespace(
    is_available=lambda: STATE.present,
    is_initialized=lambda: True,
    _is_in_bad_fork=lambda: False,
    device_count=lambda: 1,
    current_device=lambda: 0,
    manual_seed_all=lambda seed: None,
    # Chance comes from the CPU's generator, whose state is restored anyway.
    get_rng_state=lambda device=None: torch.get_rng_state(),
    set_rng_state=lambda state, device: None,
    get_amp_supported_dtype=lambda: [torch.bfloat16],
)
_setup_privateuseone_for_python_backend(NAME, _module)
DEVICE = torch.device(NAME)
CPU = torch.device("cpu")

_casting = torch.library.Library("aten", "IMPL")
_passing = torch.library.Library("_", "IMPL")
_passing.fallback(torch.library.fallthrough_kernel, "AutocastPrivateUse1")


def _in_less_precision(function):
    def cast(value):
        of_float = isinstance(value, torch.Tensor) and value.dtype == torch.float32
        return value.to(torch.bfloat16) if of_float else value

    def run(*args, **kwargs):
        with torch.autocast(NAME, enabled=False):
            return function(*tree_map(cast, args), **tree_map(cast, kwargs))

    return run


for _name in CASTS:
    _function = getattr(torch.ops.aten, _name).default
    _casting.impl(_name, _in_less_precision(_function), "AutocastPrivateUse1")


class There(torch.Tensor):
    """A tensor on the accelerator; held: the tensor of the CPU that has its numbers."""

    @staticmethod
    def __new__(cls, held):
        layout = {"strides": held.stride(), "storage_offset": held.storage_offset()}
        return torch.Tensor._make_wrapper_subclass(
            cls, held.shape, **layout, dtype=held.dtype, device=torch.device(NAME, 0)
        )

    def __init__(self, held):
        self.held = held

    def tolist(self):
        STATE.waits += 1
        return self.held.tolist()

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, function, kinds, args=(), kwargs=None):
        return _computed(function, args, kwargs or {})


def _held(value):
    return value.held if isinstance(value, There) else value


def _frozen(value):
    """What a recorded operation is given: a number of the CPU as it is now."""
    if isinstance(value, There) or not isinstance(value, torch.Tensor):
        return _held(value)
    return value.clone()


def _computed(function, args, kwargs):
    name = function._schema.name.removeprefix("aten::")
    given = [
        leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)
    ]
    there = [isinstance(tensor, There) for tensor in given]
    # As everywhere, a number of the CPU may meet any tensor, but takes up none from
    # there.
    changed = given[:1] if function._schema.is_mutable else []
    left = [
        t
        for t, on in zip(given, there, strict=True)
        if not on and (t.dim() or any(t is c for c in changed))
    ]
    if any(there) and left and name not in ("copy_", "_to_copy"):
        raise RuntimeError(
            f"expected all tensors on one device, and {name} has some on the CPU"
        )
    to = kwargs.get("device")
    on = (
        (there[0] if changed else any(there))
        if to is None
        else torch.device(to).type == NAME
    )
    if name in PRODUCTS and not on and left and left[0].dtype != torch.float64:
        STATE.on_cpu.add(name)
    if any(there) and (name == "_local_scalar_dense" or not on):
        STATE.waits += 1
    held_args = tree_map(_held, args)
    held_kwargs = tree_map(_held, kwargs) | ({} if to is None else {"device": CPU})
    if STATE.tape is None or not (on or any(there)):
        result = function(*held_args, **held_kwargs)
    else:
        read = name == "_local_scalar_dense" or not on
        if read or any(tensor.dim() for tensor in left):
            raise RuntimeError(f"{name} is not permitted when a stream is capturing")
        args = tree_map(_frozen, args)
        result = STATE.tape.call(function, args, held_kwargs)
    for tensor in given:
        if result is _held(tensor):
            return tensor  # which was changed in place

    def placed(value):
        if not isinstance(value, torch.Tensor) or isinstance(value, There):
            return value
        if value.dtype == torch.float64:
            raise TypeError("the accelerator has no float64, as Apple's")
        if value.numel() > STATE.most:
            STATE.refused += 1
            raise torch.OutOfMemoryError("the accelerator is out of memory")
        return There(value)

    return tree_map(placed, result) if on else result


class Tape:
    """A recorded function: what it does on the accelerator, with the memory that it
    uses. What it does on the CPU is not repeated, and its numbers stay as they were."""

    def __init__(self):
        self.operations = []
        self.before = {}

    def call(self, function, args, kwargs):
        """Do and record an operation on tensors of the CPU that stand for others."""
        names = [argument.name for argument in function._schema.arguments]
        given = dict(zip(names, args, strict=False)) | kwargs
        for argument in function._schema.arguments:
            written = argument.alias_info is not None and argument.alias_info.is_write
            # Batch norm's schema does not say that it writes its statistics.
            written |= argument.name in ("running_mean", "running_var")
            for tensor in tree_leaves(given.get(argument.name) if written else None):
                if isinstance(tensor, torch.Tensor):
                    self.before.setdefault(id(tensor), (tensor, tensor.clone()))
        # Random numbers of the device are not drawn before the tape is replayed.
        state = torch.get_rng_state()
        result = function(*args, **kwargs)
        torch.set_rng_state(state)
        self.operations.append((function, args, kwargs, result))
        return result

    def replay(self):
        for function, args, kwargs, result in self.operations:
            again = tree_leaves(function(*args, **kwargs))
            for old, new in zip(tree_leaves(result), again, strict=True):
                if isinstance(old, torch.Tensor) and old.data_ptr() != new.data_ptr():
                    old.copy_(new)


def capture(function):
    """Record a function as a tape, and undo what it did, as a GPU does not do it.

    Raises RuntimeError if the function cannot be recorded."""
    tape = Tape()
    STATE.tape = tape
    try:
        function()
    finally:
        STATE.tape = None
        with torch.no_grad():
            for tensor, before in reversed(tape.before.values()):
                tensor.copy_(before)
    return tape.replay


def record(function):
    """Record a function; None if that is impossible."""
    try:
        return capture(function)
    except RuntimeError:
        return None


class Accelerator(TorchDispatchMode):
    """Context in which the accelerator is there."""

    def __enter__(self):
        STATE.present = True
        STATE.most = math.inf
        STATE.refused = 0
        STATE.on_cpu.clear()
        return super().__enter__()

    def __exit__(self, *raised):
        STATE.present = False
        return super().__exit__(*raised)

    def __torch_dispatch__(self, function, kinds, args=(), kwargs=None):
        return _computed(function, args, kwargs or {})
