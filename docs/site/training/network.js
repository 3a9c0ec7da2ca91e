/* Small networks on images of 16×16, trained in plain JavaScript, one sample at a time.

   A layer has `forward(input)`, which returns its output, and `backward(gradient, needed)`, which adds to the gradients
   of its parameters and returns the gradient of its last input, if that is needed. */

const SIDE = 16;
const PIXELS = SIDE * SIDE;

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

/* Parameters of a layer, initialised as PyTorch does: uniform between ±1/√fanIn. */
function parameters(count, fanIn, uniform) {
  const bound = 1 / Math.sqrt(fanIn), values = new Float64Array(count);
  for (let n = 0; n < count; n++) values[n] = bound * (2 * uniform() - 1);
  return { values, gradient: new Float64Array(count), momentum: new Float64Array(count) };
}

function dense(inputs, outputs, uniform) {
  const weight = parameters(inputs * outputs, inputs, uniform), bias = parameters(outputs, inputs, uniform);
  const output = new Float64Array(outputs), inputGradient = new Float64Array(inputs);
  let last;
  return {
    parameters: [weight, bias],
    forward(input) {
      last = input;
      const w = weight.values;
      for (let o = 0; o < outputs; o++) {
        let sum = bias.values[o];
        for (let i = 0; i < inputs; i++) sum += w[o * inputs + i] * input[i];
        output[o] = sum;
      }
      return output;
    },
    backward(gradient, needed) {
      const w = weight.values, dw = weight.gradient;
      inputGradient.fill(0);
      for (let o = 0; o < outputs; o++) {
        const g = gradient[o];
        if (g === 0) continue;
        bias.gradient[o] += g;
        for (let i = 0; i < inputs; i++) dw[o * inputs + i] += g * last[i];
        if (needed) for (let i = 0; i < inputs; i++) inputGradient[i] += g * w[o * inputs + i];
      }
      return inputGradient;
    },
  };
}

/* A convolution with an even number of filters of 3×3, computed in pairs, and zero padding of one pixel. */
function convolution(channels, filters, side, stride, uniform) {
  const weight = parameters(9 * channels * filters, 9 * channels, uniform);
  const bias = parameters(filters, 9 * channels, uniform), wide = side + 2, small = side / stride;
  const area = small * small, padded = new Float64Array(channels * wide * wide);
  const paddedGradient = new Float64Array(padded.length), inputGradient = new Float64Array(channels * side * side);
  const output = new Float64Array(filters * area);
  const inside = Int32Array.from(inputGradient, (_, n) => (Math.floor(n / (side * side)) * wide + (Math.floor(n / side) % side) + 1) * wide + (n % side) + 1);
  return {
    parameters: [weight, bias],
    forward(input) {
      for (let n = 0; n < input.length; n++) padded[inside[n]] = input[n];
      const w = weight.values;
      for (let filter = 0; filter < filters; filter += 2) {
        output.fill(bias.values[filter], filter * area, (filter + 1) * area);
        output.fill(bias.values[filter + 1], (filter + 1) * area, (filter + 2) * area);
        for (let channel = 0; channel < channels; channel++) {
          const k = 9 * (filter * channels + channel), a0 = w[k], a1 = w[k + 1], a2 = w[k + 2];
          const a3 = w[k + 3], a4 = w[k + 4], a5 = w[k + 5], a6 = w[k + 6], a7 = w[k + 7], a8 = w[k + 8];
          const m = k + 9 * channels, b0 = w[m], b1 = w[m + 1], b2 = w[m + 2];
          const b3 = w[m + 3], b4 = w[m + 4], b5 = w[m + 5], b6 = w[m + 6], b7 = w[m + 7], b8 = w[m + 8];
          let to = filter * area;
          for (let row = 0; row < small; row++) {
            let p = (channel * wide + stride * row) * wide;
            for (let column = 0; column < small; column++) {
              const q = p + wide, r = q + wide, x0 = padded[p], x1 = padded[p + 1], x2 = padded[p + 2];
              const x3 = padded[q], x4 = padded[q + 1], x5 = padded[q + 2], x6 = padded[r], x7 = padded[r + 1], x8 = padded[r + 2];
              output[to] += a0 * x0 + a1 * x1 + a2 * x2 + a3 * x3 + a4 * x4 + a5 * x5 + a6 * x6 + a7 * x7 + a8 * x8;
              output[to + area] += b0 * x0 + b1 * x1 + b2 * x2 + b3 * x3 + b4 * x4 + b5 * x5 + b6 * x6 + b7 * x7 + b8 * x8;
              to++;
              p += stride;
            }
          }
        }
      }
      return output;
    },
    backward(gradient, needed) {
      const w = weight.values, dw = weight.gradient;
      paddedGradient.fill(0);
      for (let filter = 0; filter < filters; filter++)
        for (let place = 0; place < area; place++) {
          const g = gradient[filter * area + place];
          if (g === 0) continue; // most places, since a maximum passes its gradient to one pixel of four
          bias.gradient[filter] += g;
          const corner = stride * (Math.floor(place / small) * wide + (place % small));
          for (let channel = 0; channel < channels; channel++)
            for (let row = 0; row < 3; row++) {
              const p = (channel * wide + row) * wide + corner, k = 9 * (filter * channels + channel) + 3 * row;
              dw[k] += g * padded[p];
              dw[k + 1] += g * padded[p + 1];
              dw[k + 2] += g * padded[p + 2];
              if (needed) {
                paddedGradient[p] += g * w[k];
                paddedGradient[p + 1] += g * w[k + 1];
                paddedGradient[p + 2] += g * w[k + 2];
              }
            }
        }
      if (needed) for (let n = 0; n < inside.length; n++) inputGradient[n] = paddedGradient[inside[n]];
      return inputGradient;
    },
  };
}

function relu(count) {
  const output = new Float64Array(count), inputGradient = new Float64Array(count);
  return {
    parameters: [],
    forward(input) {
      for (let n = 0; n < count; n++) output[n] = Math.max(0, input[n]);
      return output;
    },
    backward(gradient) {
      for (let n = 0; n < count; n++) inputGradient[n] = output[n] > 0 ? gradient[n] : 0;
      return inputGradient;
    },
  };
}

/* The largest of 2×2 pixels. */
function maxPool(channels, side) {
  const half = side / 2, output = new Float64Array(channels * half * half), from = new Int32Array(output.length);
  const inputGradient = new Float64Array(channels * side * side);
  return {
    parameters: [],
    forward(input) {
      let to = 0;
      for (let row = 0; row < channels * side; row += 2)
        for (let column = 0; column < side; column += 2) {
          const corner = row * side + column;
          let best = corner;
          if (input[corner + 1] > input[best]) best = corner + 1;
          if (input[corner + side] > input[best]) best = corner + side;
          if (input[corner + side + 1] > input[best]) best = corner + side + 1;
          output[to] = input[best];
          from[to++] = best;
        }
      return output;
    },
    backward(gradient) {
      inputGradient.fill(0);
      for (let n = 0; n < gradient.length; n++) inputGradient[from[n]] = gradient[n];
      return inputGradient;
    },
  };
}

const FILTERS = [6, 8];
const HIDDEN = 24;

/* The layers of each network. A convolution halves the image by the pooling after it, or by its own stride. */
const ARCHITECTURES = {
  linear: (uniform) => [dense(PIXELS, 1, uniform)],
  pooled: (uniform) => convolutional(uniform, true),
  strided: (uniform) => convolutional(uniform, false),
};
function convolutional(uniform, pooling) {
  const layers = [], features = FILTERS.reduce((channels, filters, n) => {
    const side = SIDE >> n;
    layers.push(convolution(channels, filters, side, pooling ? 1 : 2, uniform));
    if (pooling) layers.push(maxPool(filters, side));
    layers.push(relu((filters * side * side) / 4));
    return filters;
  }, 1) * (SIDE >> FILTERS.length) ** 2;
  return [...layers, dense(features, HIDDEN, uniform), relu(HIDDEN), dense(HIDDEN, 1, uniform)];
}

/* A network with random weights. Its output is positive where it decides for class +1. */
function createNetwork(architecture, seed) {
  const layers = ARCHITECTURES[architecture](randomNumbers(seed).uniform);
  return {
    parameters: layers.flatMap((layer) => layer.parameters),
    forward: (image) => layers.reduce((values, layer) => layer.forward(values), image)[0],
    backward(outputGradient) {
      let gradient = [outputGradient];
      for (let n = layers.length - 1; n >= 0; n--) gradient = layers[n].backward(gradient, n > 0);
    },
  };
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
    const label = uniform() < 0.5 ? -1 : 1, image = new Float64Array(PIXELS);
    let along = 0;
    for (let n = 0; n < PIXELS; n++) {
      image[n] = normal();
      along += image[n] * v[n];
    }
    for (let n = 0; n < PIXELS; n++) image[n] += (label - along) * v[n];
    return { image, label };
  });
}

function accuracyOn(network, samples) {
  const right = samples.filter(({ image, label }) => network.forward(image) * label > 0);
  return right.length / samples.length;
}

const TRAINING = { samples: 512, testSamples: 1024, batch: 32, epochs: 50, rate: 0.1, momentum: 0.9, clip: 0.2 };

/* The learning rate rises to its largest value in the first 30 % of the steps, and then falls to zero. */
function learningRate(progress) {
  return TRAINING.rate * Math.min(progress / 0.3, (1 - progress) / 0.7);
}

/* One step of SGD on the logistic loss, with momentum and the gradient's norm clipped; returns the share of right answers. */
function trainStep(network, batch, rate) {
  let right = 0;
  for (const { image, label } of batch) {
    const output = network.forward(image);
    network.backward(-label / (1 + Math.exp(label * output)) / batch.length);
    if (output * label > 0) right += 1;
  }
  let squares = 0;
  for (const { gradient } of network.parameters) for (let n = 0; n < gradient.length; n++) squares += gradient[n] ** 2;
  const scale = Math.min(1, TRAINING.clip / Math.sqrt(squares + 1e-30));
  for (const { values, gradient, momentum } of network.parameters)
    for (let n = 0; n < values.length; n++) {
      momentum[n] = TRAINING.momentum * momentum[n] + scale * gradient[n];
      values[n] -= rate * momentum[n];
      gradient[n] = 0;
    }
  return right / batch.length;
}

/* Train a network on D(v). After every second epoch `report` gets its number and the accuracies on training and some test samples, in the end on all. */
function trainNetwork(architecture, v, seed, report = () => {}) {
  const { samples, testSamples, batch, epochs } = TRAINING, train = drawSamples(v, samples, 3 * seed + 1);
  const test = drawSamples(v, testSamples, 3 * seed + 2), network = createNetwork(architecture, 3 * seed);
  const few = test.slice(0, 128); // so that training takes most of the time
  for (let epoch = 0; epoch < epochs; epoch++) {
    let right = 0;
    for (let start = 0; start < samples; start += batch)
      right += batch * trainStep(network, train.slice(start, start + batch), learningRate((epoch + start / samples) / epochs));
    if (epoch % 2) report(epoch + 1, right / samples, accuracyOn(network, epoch + 1 < epochs ? few : test));
  }
  return { train: accuracyOn(network, train), test: accuracyOn(network, test) };
}
