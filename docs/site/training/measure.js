/* Measure what the article's first chapter shows, and print it: `node docs/site/training/measure.js > docs/site/measured.json`.

   With numbers of seeds as arguments, only these are used. */

const fs = require("fs");
const path = require("path");
const vm = require("vm");

for (const file of ["network.js", "nads.js"]) vm.runInThisContext(fs.readFileSync(path.join(__dirname, file), "utf8"));

const FREQUENCIES = [2, 4, 8];
const INDICES = [0, 3, 10, 18, 30, 80, 180, 250];
const NETWORKS = 60;

/* The accuracies of an architecture along v, a list for training and one for test samples. */
function measure(architecture, v, seeds) {
  const results = seeds.map((seed) => trainNetwork(architecture, v, seed));
  return { train: results.map(({ train }) => train), test: results.map(({ test }) => test) };
}

function measureAll(seeds) {
  const waves = FREQUENCIES.map((frequency) => {
    const v = fourierDirection(frequency, frequency);
    const networks = ["linear", "pooled", "strided"].map((name) => [name, measure(name, v, seeds)]);
    return { frequency, ...Object.fromEntries(networks) };
  });
  const nads = nadsOf(drawSecants(NETWORKS, 1));
  const along = INDICES.map((index) => ({ index, ...measure("pooled", nads[index].direction, seeds.slice(0, 1)) }));
  return { seeds, waves, nads: along };
}

const chosen = process.argv.slice(2).map(Number);
console.log(JSON.stringify(measureAll(chosen.length ? chosen : [1, 2, 3, 4, 5]), null, 1));
