/* NADs of the small network with pooling, from untrained networks. */

const STEP = 100; // half the width of the difference quotient, as in the papers

/* The papers' derivative: the difference quotient of an untrained network's output along each pixel, at one standard-normal image. */
function secant(network, seed, image) {
  const { images, outputs } = network, derivative = new Float64Array(PIXELS), half = BATCH / 2;
  network.initialise(seed);
  for (let first = 0; first < PIXELS; first += half) {
    for (let pixel = 0; pixel < PIXELS; pixel++) images.fill(image[pixel], pixel * BATCH, (pixel + 1) * BATCH);
    for (let n = 0; n < half; n++) {
      images[(first + n) * BATCH + n] += STEP;
      images[(first + n) * BATCH + half + n] -= STEP;
    }
    network.forward();
    for (let n = 0; n < half; n++) derivative[first + n] = (outputs[n] - outputs[half + n]) / (2 * STEP);
  }
  return derivative;
}

const outer = (a, b) => Float64Array.from({ length: PIXELS }, (_, n) => a[Math.floor(n / SIDE)] * b[n % SIDE]);

/* Orthonormal images in blocks that do not mix: the weights' distribution does not change when the image is flipped or transposed, so images
   that differ in their symmetry are uncorrelated. A block is a list of copies, each a list of images; the two copies of the
   last block are transposes of each other, so they have the same covariance. */
function symmetricBlocks() {
  const half = SIDE / 2;
  const fold = (sign) => (_, place) => {
    const values = new Float64Array(SIDE);
    values[place] = Math.SQRT1_2;
    values[SIDE - 1 - place] = sign * Math.SQRT1_2;
    return values;
  };
  const even = Array.from({ length: half }, fold(1)), odd = Array.from({ length: half }, fold(-1)), blocks = [];
  for (const family of [even, odd]) {
    const symmetric = family.map((a) => outer(a, a)), antisymmetric = [];
    for (let i = 0; i < half; i++)
      for (let j = 0; j < i; j++) {
        const [one, transposed] = [outer(family[i], family[j]), outer(family[j], family[i])];
        symmetric.push(one.map((value, n) => Math.SQRT1_2 * (value + transposed[n])));
        antisymmetric.push(one.map((value, n) => Math.SQRT1_2 * (value - transposed[n])));
      }
    blocks.push([symmetric], [antisymmetric]);
  }
  const mixed = even.flatMap((a) => odd.map((b) => outer(a, b)));
  const transposed = even.flatMap((a) => odd.map((b) => outer(b, a)));
  blocks.push([mixed, transposed]);
  return blocks;
}

/* Eigenvalues and eigenvectors of a symmetric matrix, by Jacobi's rotations. The matrix, a list of rows, is overwritten. */
function diagonalise(matrix) {
  const size = matrix.length;
  const vectors = matrix.map((_, n) => Float64Array.from({ length: size }, (_, m) => (n === m ? 1 : 0)));
  const rotate = (a, b, cosine, sine) => {
    for (let n = 0; n < size; n++) [a[n], b[n]] = [cosine * a[n] - sine * b[n], sine * a[n] + cosine * b[n]];
  };
  const total = matrix.reduce((sum, row, n) => sum + row[n], 0);
  for (let changed = true; changed; ) {
    changed = false;
    for (let p = 0; p < size; p++)
      for (let q = p + 1; q < size; q++) {
        const entry = matrix[p][q];
        if (Math.abs(entry) <= 1e-14 * total) continue;
        changed = true;
        const ratio = (matrix[q][q] - matrix[p][p]) / (2 * entry);
        const tangent = (ratio < 0 ? -1 : 1) / (Math.abs(ratio) + Math.hypot(ratio, 1));
        const cosine = 1 / Math.hypot(tangent, 1), sine = tangent * cosine;
        for (const row of matrix) [row[p], row[q]] = [cosine * row[p] - sine * row[q], sine * row[p] + cosine * row[q]];
        rotate(matrix[p], matrix[q], cosine, sine);
        rotate(vectors[p], vectors[q], cosine, sine);
      }
  }
  return { values: matrix.map((row, n) => row[n]), vectors };
}

/* NADs from secants: the eigenvectors of their mean outer product over the image's symmetries, the largest eigenvalue first. */
function nadsOf(secants) {
  const found = [];
  for (const copies of symmetricBlocks()) {
    const size = copies[0].length, covariance = Array.from({ length: size }, () => new Float64Array(size));
    for (const derivative of secants)
      for (const images of copies) {
        const coefficients = images.map((image) => product(image, derivative));
        for (let p = 0; p < size; p++) for (let q = 0; q < size; q++) covariance[p][q] += (coefficients[p] * coefficients[q]) / (secants.length * copies.length);
      }
    const { values, vectors } = diagonalise(covariance);
    for (const images of copies)
      vectors.forEach((vector, n) => {
        const direction = new Float64Array(PIXELS);
        images.forEach((image, m) => {
          for (let pixel = 0; pixel < PIXELS; pixel++) direction[pixel] += vector[m] * image[pixel];
        });
        found.push({ eigenvalue: values[n], direction });
      });
  }
  return found.sort((a, b) => b.eigenvalue - a.eigenvalue);
}

/* Secants of untrained networks with pooling, all at one standard-normal image. The seeds of their weights are seed, seed + 1, … */
function drawSecants(count, seed) {
  const { normal } = randomNumbers(0), image = Float64Array.from({ length: PIXELS }, normal), network = createNetwork("pooled", seed);
  return Array.from({ length: count }, (_, n) => secant(network, seed + n, image));
}
