/* Small networks on images of 16×16, trained 32 samples at a time.

   A unit is a pixel or a neuron, and its 32 values follow each other in memory. kernel.wat computes with units, or JavaScript where a browser
   refuses WebAssembly. A layer has `forward()`, which computes its output, and `backward(needed)`, which computes the gradient of its parameters
   and that of its input, if needed, from the gradient of its output. */

const SIDE = 16;
const PIXELS = SIDE * SIDE;
const BATCH = 32;
const UNIT = 4 * BATCH; // bytes

/* Independent random numbers, the same in every browser: mulberry32 for uniform ones, Box and Muller's transform for normal ones. */
function randomNumbers(seed) {
  let state = seed | 0;
  function uniform() {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  function normal() {
    const radius = Math.sqrt(-2 * Math.log(1 - uniform()));
    return radius * Math.cos(2 * Math.PI * uniform());
  }
  return { uniform, normal };
}

/* kernel.wat, or nothing where a browser has no WebAssembly or does not know its instructions. */
function compile() {
  try {
    return new WebAssembly.Module(Uint8Array.from(atob(KERNEL), (letter) => letter.charCodeAt(0)));
  } catch {
    return null;
  }
}

const COMPILED = compile();

/* The functions and the memory of kernel.wat. Addresses count bytes, and a number has four. */
function kernelInJavaScript() {
  const buffer = new ArrayBuffer(4 << 20), integers = new Int32Array(buffer), floats = new Float32Array(buffer);
  function combine(table, end, result) {
    for (let at = table >> 2, groupEnd; at < end >> 2; at = groupEnd) {
      groupEnd = integers[at++] >> 2;
      for (let n = 0; n < BATCH; n += 4, result += 16) {
        let a = 0, b = 0, c = 0, d = 0;
        for (let pair = at; pair < groupEnd; pair += 2) {
          const unit = (integers[pair] >> 2) + n, weight = floats[integers[pair + 1] >> 2];
          a += weight * floats[unit];
          b += weight * floats[unit + 1];
          c += weight * floats[unit + 2];
          d += weight * floats[unit + 3];
        }
        floats[result >> 2] = a;
        floats[(result >> 2) + 1] = b;
        floats[(result >> 2) + 2] = c;
        floats[(result >> 2) + 3] = d;
      }
    }
  }
  function correlate(table, end, result) {
    for (let at = table >> 2; at < end >> 2; result += 4) {
      let even = 0, odd = 0;
      for (const groupEnd = integers[at++] >> 2; at < groupEnd; at += 2) {
        const one = integers[at] >> 2, two = integers[at + 1] >> 2;
        for (let n = 0; n < BATCH; n += 2) {
          even += floats[one + n] * floats[two + n];
          odd += floats[one + n + 1] * floats[two + n + 1];
        }
      }
      floats[result >> 2] = even + odd;
    }
  }
  function larger(one, two, result) {
    for (let n = 0; n < UNIT; n += 4) floats[(result + n) >> 2] = Math.max(floats[(one + n) >> 2], floats[(two + n) >> 2]);
  }
  function whereEqual(one, two, unit, result) {
    for (let n = 0; n < UNIT; n += 4) floats[(result + n) >> 2] = floats[(one + n) >> 2] === floats[(two + n) >> 2] ? floats[(unit + n) >> 2] : 0;
  }
  return { memory: { buffer }, combine, correlate, larger, whereEqual };
}

/* A kernel with its own memory, for one network. */
function createKernel() {
  const kernel = COMPILED ? new WebAssembly.Instance(COMPILED).exports : kernelInJavaScript();
  let used = 0;
  function allocate(count, Numbers = Float32Array) {
    const numbers = new Numbers(kernel.memory.buffer, used, count);
    used += UNIT * Math.ceil((4 * count) / UNIT);
    return numbers;
  }
  /* The values of units and their gradients. One more unit is always 1: the bias is the weight of its connection. */
  function units(count) {
    const values = allocate((count + 1) * BATCH).fill(1, count * BATCH);
    return { count, values, gradient: allocate(count * BATCH) };
  }
  /* The addresses where a table of groups begins and ends. */
  function table(groups) {
    const begin = used;
    let end = begin;
    const numbers = [].concat(...groups.map((group) => [(end += 4 * (group.length + 1)), ...group]));
    allocate(numbers.length, Int32Array).set(numbers);
    return [begin, end];
  }
  return { ...kernel, allocate, units, table };
}

/* Filters of `fanIn` weights and a bias, at `area` places of the input; inputOf(place, n) is the unit there for the nth weight, if any. */
function linear(kernel, input, filters, area, fanIn, inputOf) {
  const output = kernel.units(filters * area), count = filters * (fanIn + 1);
  const [values, gradient, momentum] = Array.from({ length: 3 }, () => kernel.allocate(count));
  const [byOutput, byInput, byWeight] = [output.count, input.count + 1, count].map((length) => Array.from({ length }, () => []));
  for (let to = 0; to < output.count; to++)
    for (let n = 0; n <= fanIn; n++) {
      const filter = Math.floor(to / area), bias = n === fanIn, from = bias ? input.count : inputOf(to % area, n);
      if (from === undefined) continue;
      const at = bias ? filters * fanIn + filter : filter * fanIn + n, weight = values.byteOffset + 4 * at;
      const x = input.values.byteOffset + UNIT * from, dy = output.gradient.byteOffset + UNIT * to;
      byOutput[to].push(x, weight);
      byInput[from].push(dy, weight);
      byWeight[at].push(x, dy);
    }
  const [forth, back, change] = [byOutput, byInput.slice(0, -1), byWeight].map(kernel.table);
  return {
    output,
    parameters: { fanIn, values, gradient, momentum },
    forward: () => kernel.combine(...forth, output.values.byteOffset),
    backward(needed) {
      kernel.correlate(...change, gradient.byteOffset);
      if (needed) kernel.combine(...back, input.gradient.byteOffset);
    },
  };
}

const dense = (kernel, input, outputs) => linear(kernel, input, outputs, 1, input.count, (_, n) => n);

/* Filters of 3×3 and zero padding of one pixel. */
function convolution(kernel, input, filters, side, stride) {
  const channels = input.count / side ** 2, small = side / stride;
  return linear(kernel, input, filters, small ** 2, 9 * channels, (place, n) => {
    const row = stride * Math.floor(place / small) + (Math.floor(n / 3) % 3) - 1, column = stride * (place % small) + (n % 3) - 1;
    if (Math.min(row, column) >= 0 && Math.max(row, column) < side) return (Math.floor(n / 9) * side + row) * side + column;
  });
}

/* The largest of some units of the input, or zero. A unit is a source of one output, and gets the gradient where it is the largest. */
function largest(kernel, input, count, sourcesOf) {
  const output = kernel.units(count), [x, y, dx, dy] = [input.values, output.values, input.gradient, output.gradient].map((numbers) => numbers.byteOffset);
  const zero = kernel.allocate(BATCH).byteOffset, sources = Array.from({ length: count }, (_, n) => sourcesOf(n).map((unit) => UNIT * unit));
  return {
    output,
    forward: () => sources.forEach((units, n) => units.forEach((unit, m) => kernel.larger(x + unit, m ? y + UNIT * n : zero, y + UNIT * n))),
    backward: () => sources.forEach((units, n) => units.forEach((unit) => kernel.whereEqual(x + unit, y + UNIT * n, dy + UNIT * n, dx + unit))),
  };
}

const relu = (kernel, input) => largest(kernel, input, input.count, (unit) => [unit]);

/* A ReLU of the largest of 2×2 pixels. */
function pooling(kernel, input, side) {
  return largest(kernel, input, input.count / 4, (place) => {
    const corner = 2 * (Math.floor((2 * place) / side) * side + (place % (side / 2)));
    return [corner, corner + 1, corner + side, corner + side + 1];
  });
}

/* The layers of each network, with their options. The stride or the next layer halves the image. */
const convolutional = (stride, next) => [
  [convolution, 6, SIDE, stride],
  [next, SIDE],
  [convolution, 8, SIDE / 2, stride],
  [next, SIDE / 2],
  [dense, 24],
  [relu],
  [dense, 1],
];
const ARCHITECTURES = { linear: [[dense, 1]], pooled: convolutional(1, pooling), strided: convolutional(2, relu) };

/* A network with random weights. Its output for a sample is positive where it decides for class +1. */
function createNetwork(architecture, seed) {
  const kernel = createKernel(), input = kernel.units(PIXELS);
  let units = input;
  const layers = ARCHITECTURES[architecture].map(([create, ...options]) => {
    const layer = create(kernel, units, ...options);
    units = layer.output;
    return layer;
  });
  const parameters = layers.flatMap((layer) => layer.parameters ?? []);
  /* As PyTorch does: uniform between ±1/√fanIn. */
  function initialise(seed) {
    const { uniform } = randomNumbers(seed);
    for (const { fanIn, values } of parameters) for (let n = 0; n < values.length; n++) values[n] = (2 * uniform() - 1) / Math.sqrt(fanIn);
  }
  initialise(seed);
  return {
    parameters,
    initialise,
    images: input.values.subarray(0, PIXELS * BATCH),
    outputs: units.values.subarray(0, BATCH),
    outputGradient: units.gradient,
    forward: () => layers.forEach((layer) => layer.forward()),
    backward: () => [...layers].reverse().forEach((layer) => layer.backward(layer !== layers[0])),
  };
}

function product(a, b) {
  let sum = 0;
  for (let n = 0; n < PIXELS; n++) sum += a[n] * b[n];
  return sum;
}

/* The Fourier direction of a frequency, of norm 1. */
function fourierDirection(down, across) {
  const wave = Float64Array.from({ length: PIXELS }, (_, n) => Math.cos((2 * Math.PI * (down * Math.floor(n / SIDE) + across * (n % SIDE))) / SIDE));
  const norm = Math.hypot(...wave);
  return wave.map((value) => value / norm);
}

/* Samples of D(v) of paper 1: x = εyv + noise of standard deviation σ in all directions but v, at ε = σ = 1. */
function drawSamples(v, count, seed) {
  const { uniform, normal } = randomNumbers(seed);
  return Array.from({ length: count }, () => {
    const label = uniform() < 0.5 ? -1 : 1, noise = new Float64Array(PIXELS).map(normal), along = product(noise, v);
    return { label, image: noise.map((value, n) => value + (label - along) * v[n]) };
  });
}

/* Samples as networks read them: in each batch the 32 values of a pixel follow each other. */
function inBatches(samples) {
  return Array.from({ length: samples.length / BATCH }, (_, n) => {
    const batch = samples.slice(n * BATCH, (n + 1) * BATCH), images = new Float32Array(PIXELS * BATCH);
    for (let at = 0; at < images.length; at++) images[at] = batch[at % BATCH].image[Math.floor(at / BATCH)];
    return { images, labels: batch.map(({ label }) => label) };
  });
}

/* Compute a network's outputs for a batch; returns the share of right answers. */
function answer(network, { images, labels }) {
  network.images.set(images);
  network.forward();
  return labels.filter((label, n) => network.outputs[n] * label > 0).length / BATCH;
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const accuracyOn = (network, batches) => mean(batches.map((batch) => answer(network, batch)));

const TRAINING = { samples: 512, testSamples: 1024, epochs: 50, rate: 0.1, momentum: 0.9, clip: 0.2 };

/* The learning rate rises to its largest value in the first 30 % of the steps, and then falls to zero. */
const learningRate = (progress) => TRAINING.rate * Math.min(progress / 0.3, (1 - progress) / 0.7);

/* One step of SGD on the logistic loss, with momentum and the gradient's norm clipped; returns the share of right answers. */
function trainStep(network, batch, rate) {
  const right = answer(network, batch), { outputs, outputGradient } = network;
  batch.labels.forEach((label, n) => (outputGradient[n] = -label / (1 + Math.exp(label * outputs[n])) / BATCH));
  network.backward();
  let squares = 0;
  for (const { gradient } of network.parameters) for (let n = 0; n < gradient.length; n++) squares += gradient[n] ** 2;
  const scale = Math.min(1, TRAINING.clip / Math.sqrt(squares + 1e-30));
  for (const { values, gradient, momentum } of network.parameters)
    for (let n = 0; n < values.length; n++) {
      momentum[n] = TRAINING.momentum * momentum[n] + scale * gradient[n];
      values[n] -= rate * momentum[n];
    }
  return right;
}

/* Train a network on D(v). After every second epoch `report` gets its number and the accuracies on training and some test samples, in the end on all. */
function trainNetwork(architecture, v, seed, report = () => {}) {
  const { samples, testSamples, epochs } = TRAINING, train = inBatches(drawSamples(v, samples, 3 * seed + 1));
  const test = inBatches(drawSamples(v, testSamples, 3 * seed + 2)), network = createNetwork(architecture, 3 * seed);
  for (let epoch = 0; epoch < epochs; epoch++) {
    const right = mean(train.map((batch, n) => trainStep(network, batch, learningRate((epoch + n / train.length) / epochs))));
    if (epoch % 2) report(epoch + 1, right, accuracyOn(network, epoch + 1 < epochs ? test.slice(0, 4) : test));
  }
  return { train: accuracyOn(network, train), test: accuracyOn(network, test) };
}
