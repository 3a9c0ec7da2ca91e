"""The kernel of the networks that train in the browser, and its assembler."""

import shutil

import numpy as np
import pytest

from docs.site.assemble import assemble, signed, unsigned
from docs.site.measure import run_node

needs_node = pytest.mark.skipif(
    shutil.which("node") is None, reason="no Node here (apt-get install nodejs)"
)


def module(*sections):
    return bytes.fromhex("0061736d 01000000" + "".join(sections))


@pytest.mark.parametrize(
    ("number", "code"), [(0, "00"), (127, "7f"), (128, "8001"), (624485, "e58e26")]
)
def test_unsigned_numbers_have_seven_bits_a_byte(number, code):
    assert unsigned(number).hex() == code


@pytest.mark.parametrize(
    ("number", "code"),
    [(63, "3f"), (64, "c000"), (-64, "40"), (-65, "bf7f"), (-123456, "c0bb78")],
)
def test_signed_numbers_end_with_their_sign(number, code):
    assert signed(number).hex() == code


def test_a_program_becomes_the_bytes_of_the_specification():
    text = """
    ;; Counts down from a number in memory.
    (module
      (memory (export "m") 1)
      (func (export "f") (param $n i32) (local $v v128) (local $k i32)
        (loop $again
          (local.set $k (i32.add (i32.load offset=8 (local.get $n)) (i32.const -1)))
          (loop $inner
            (br_if $again (local.get $k))))))
    """
    code = "2000 2802 08 417f 6a 21020340 2002 0d01 0b"
    body = "02 017b 017f0340" + code + "0b0b"
    size = len(bytes.fromhex(body))
    assert assemble(text) == module(
        "01 05 01 60 01 7f 00",
        "03 02 01 00",
        "05 03 01 00 01",
        "07 09 02 01 6d 02 00 01 66 00 00",
        f"0a {size + 2:02x} 01 {size:02x}",
        body,
    )


@pytest.mark.parametrize(
    "line",
    ["(i64.add (local.get $n) (local.get $n))", "(local.get $m)", "(br_if $loop)"],
)
def test_what_the_assembler_does_not_know_is_refused(line):
    text = f"""(module (memory (export "m") 1)
      (func (export "f") (param $n i32) {line}))"""
    with pytest.raises((KeyError, ValueError)):
        assemble(text)


@needs_node
@pytest.mark.parametrize("kernel", [None, b""], ids=["webassembly", "javascript"])
def test_the_kernel_computes_sums_products_and_maxima(kernel):
    found = run_node(
        """(() => {
      const { normal } = randomNumbers(1), kernel = createKernel();
      const at = (numbers, n) => numbers.byteOffset + n;
      const units = kernel.allocate(5 * BATCH), weights = kernel.allocate(3);
      for (const numbers of [units, weights])
        for (let n = 0; n < numbers.length; n++) numbers[n] = normal();
      units.copyWithin(3 * BATCH, 0, 7); // so that unit 3 is partly equal to unit 0
      const unit = (n) => at(units, n * UNIT), weight = (n) => at(weights, 4 * n);
      const sums = kernel.allocate(2 * BATCH), products = kernel.allocate(2);
      const larger = kernel.allocate(BATCH), equal = kernel.allocate(BATCH);
      const connections = [[unit(0), weight(2), unit(1), weight(0)], [unit(4), weight(1)]];
      const pairs = [[unit(0), unit(1)], [unit(2), unit(3), unit(4), unit(4)]];
      kernel.combine(...kernel.table(connections), at(sums, 0));
      kernel.correlate(...kernel.table(pairs), at(products, 0));
      kernel.larger(unit(0), unit(1), at(larger, 0));
      kernel.whereEqual(unit(0), unit(3), unit(2), at(equal, 0));
      const all = { units, weights, sums, products, larger, equal };
      return Object.fromEntries(Object.entries(all).map(([k, v]) => [k, Array.from(v)]));
    })()""",
        kernel,
    )
    a, b, c, d, e = units = np.reshape(found["units"], (5, 32))
    assert units.std() == pytest.approx(1, abs=0.2)
    one, two, three = found["weights"]
    sums = np.concatenate([three * a + one * b, two * e])
    np.testing.assert_allclose(found["sums"], sums, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found["products"], [a @ b, c @ d + e @ e], rtol=1e-4)
    np.testing.assert_array_equal(found["larger"], np.maximum(a, b))
    np.testing.assert_array_equal(found["equal"], np.where(np.arange(32) < 7, c, 0))
