/* Networks that train while one looks. Needs basis.js; the networks themselves run in workers, on the code of the page's script #training-code. */

const LEARNERS = { linear: "linear network", pooled: "CNN with max pooling", strided: "CNN with strides" };
const CHART = { width: 280, height: 150, left: 34, right: 274, top: 8, bottom: 124 };

/* A function from a task and its values to a promise of the result; see worker.js. Tasks wait until a worker is free. */
function createWorkers() {
  const url = URL.createObjectURL(new Blob([$("training-code").textContent], { type: "text/javascript" }));
  const count = Math.max(1, Math.min(4, navigator.hardwareConcurrency || 2));
  const idle = Array.from({ length: count }, () => new Worker(url));
  const waiting = [];
  function next() {
    if (!idle.length || !waiting.length) return;
    const worker = idle.pop();
    const { message, report, done } = waiting.shift();
    worker.onmessage = ({ data }) => {
      if (data.progress) return report(...data.progress);
      idle.push(worker);
      next();
      done(data.result);
    };
    worker.postMessage(message);
  }
  const run = (task, values, report = () => {}) =>
    new Promise((done) => {
      waiting.push({ message: { task, ...values }, report, done });
      next();
    });
  return { run, count };
}

function scaled(values) {
  const most = values.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0);
  return values.map((value) => value / most);
}
const drawImage = (id, values) => draw($(id), scaled(values), [1, SIDE, SIDE]);

/* The height of an accuracy in a chart from 40 to 100 %. */
const heightOf = (accuracy, { top, bottom }) => bottom - ((bottom - top) * (Math.max(0.4, accuracy) - 0.4)) / 0.6;
const pointsOf = (places) => places.map((place) => place.map((value) => value.toFixed(1)).join(",")).join(" ");

/* Lines at 50, 75 and 100 %. */
function drawScale(svg, chart) {
  svg.setAttribute("viewBox", `0 0 ${chart.width} ${chart.height}`);
  svg.replaceChildren();
  for (const accuracy of [0.5, 0.75, 1]) {
    const y = heightOf(accuracy, chart);
    svg.append(element("svg:line", { x1: chart.left, x2: chart.right, y1: y, y2: y, stroke: "currentColor", opacity: accuracy === 0.5 ? 0.5 : 0.15 }));
    svg.append(element("svg:text", { x: chart.left - 6, y: y + 4, "text-anchor": "end" }, percent(accuracy, 0)));
  }
}

/* The accuracies of one network after each epoch, [epoch, train, test]. */
function drawCourse(svg, course) {
  drawScale(svg, CHART);
  const x = (epoch) => CHART.left + ((CHART.right - CHART.left) * epoch) / TRAINING.epochs;
  const line = (column, look) => {
    const points = pointsOf(course.map((row) => [x(row[0]), heightOf(row[column], CHART)]));
    svg.append(element("svg:polyline", { points, fill: "none", ...look }));
  };
  line(1, { stroke: "var(--theirs)", "stroke-width": 1.5, "stroke-dasharray": "5 3" });
  line(2, { stroke: "var(--ours)", "stroke-width": 3 });
  svg.append(element("svg:text", { x: (CHART.left + CHART.right) / 2, y: CHART.height - 6, "text-anchor": "middle" }, "training"));
}

function verdict({ train, test }) {
  const numbers = `${percent(test, 0)} % on new pictures, ${percent(train, 0)} % on training pictures. `;
  if (test > 0.9) return `${numbers}It found v.`;
  if (train < 0.9) return `${numbers}It does not fit.`;
  return numbers + (test < 0.65 ? "It memorised its pictures." : "It found v in part.");
}

/* What became of a bet, from the test accuracies of the three networks. */
function outcome(results, bet) {
  const names = Object.keys(results);
  const failed = names.filter((name) => results[name].test < 0.65);
  if (!failed.length) return "No network failed.";
  const text = `${failed.map((name) => `The ${LEARNERS[name]}`).join(" and ")} failed.`;
  if (!bet) return text;
  return `${text} ${failed.includes(bet) ? "You won your bet." : `You bet on the ${LEARNERS[bet]}.`}`;
}

function trainThree(workers) {
  let seed = 0;
  let turn = 0;
  const input = (name) => $(`training-${name}`);
  const charts = {};
  for (const [name, label] of Object.entries(LEARNERS)) {
    const svg = element("svg:svg", { role: "img", "aria-label": `Accuracy of the ${label} during training` });
    const words = element("p");
    input("learners").append(element("div", {}, element("h4", {}, label), svg, words));
    charts[name] = { svg, words };
  }
  function show() {
    const [down, across] = [+input("down").value, +input("across").value];
    const v = fourierDirection(down, across);
    const { normal } = randomNumbers(1);
    drawImage("training-v", v);
    for (const [name, label] of [["minus", -1], ["plus", 1]]) {
      const noise = Float64Array.from({ length: PIXELS }, normal);
      const along = noise.reduce((sum, value, n) => sum + value * v[n], 0);
      drawImage(`training-${name}`, noise.map((value, n) => value + (label - along) * v[n]));
    }
    input("down-is").textContent = down;
    input("across-is").textContent = across;
    input("called").textContent = `the pattern v: the wave (${down}, ${across})`;
    input("outcome").textContent = "";
    for (const { svg, words } of Object.values(charts)) {
      drawCourse(svg, []);
      words.textContent = "";
    }
    for (const name of Object.keys(LEARNERS)) input(`bet-${name}`).setAttribute("aria-pressed", "false");
    turn += 1; // the networks that train now belong to another pattern
    return v;
  }
  async function start(bet) {
    const v = show();
    const now = turn;
    seed += 1;
    if (bet) input(`bet-${bet}`).setAttribute("aria-pressed", "true");
    const trained = Object.entries(charts).map(async ([architecture, { svg, words }]) => {
      const course = [];
      const result = await workers.run("train", { architecture, v, seed }, (...row) => {
        if (now !== turn) return;
        course.push(row);
        drawCourse(svg, course);
      });
      if (now === turn) words.textContent = verdict(result);
      return [architecture, result];
    });
    const results = Object.fromEntries(await Promise.all(trained));
    if (now === turn) input("outcome").textContent = outcome(results, bet);
  }
  for (const name of ["down", "across"]) input(name).addEventListener("input", show);
  for (const name of Object.keys(LEARNERS))
    input(`bet-${name}`).addEventListener("click", () => {
      input("down").value = input("across").value = 4;
      start(name);
    });
  input("start").addEventListener("click", () => start());
  show();
  return start;
}

function forecast(workers) {
  const NETWORKS = 60;
  const TRAINED = [0, 1, 3, 6, 10, 18, 30, 50, 80, 120, 180, 250];
  const input = (name) => $(`forecast-${name}`);
  const svg = input("curve");
  let seed = 1;
  let nads = [];
  let accuracies = [];
  function show() {
    const { width } = svg.getBoundingClientRect();
    const chart = { width, height: 230, left: 40, right: width - 10, top: 10, bottom: 190 };
    const x = (index) => chart.left + ((chart.right - chart.left) * Math.log(index + 1)) / Math.log(PIXELS);
    drawScale(svg, chart);
    for (const index of [0, 1, 10, 100, 255]) svg.append(element("svg:text", { x: x(index), y: chart.bottom + 16, "text-anchor": "middle" }, String(index)));
    svg.append(element("svg:text", { x: (chart.left + chart.right) / 2, y: chart.height - 6, "text-anchor": "middle" }, "NAD index"));
    if (!nads.length) return;
    const index = +input("index").value;
    svg.append(element("svg:line", { x1: x(index), x2: x(index), y1: chart.top, y2: chart.bottom, stroke: "var(--mark)", "stroke-width": 2 }));
    const [high, low] = [nads[0], nads.at(-1)].map(({ eigenvalue }) => Math.log(eigenvalue));
    const responses = nads.map(({ eigenvalue }, n) => [x(n), heightOf(0.5 + (0.5 * (Math.log(eigenvalue) - low)) / (high - low), chart)]);
    svg.append(element("svg:polyline", { points: pointsOf(responses), fill: "none", stroke: "var(--soft)", "stroke-width": 1.5 }));
    const dots = [...accuracies].sort(([a], [b]) => a - b).map(([n, { test }]) => [x(n), heightOf(test, chart)]);
    svg.append(element("svg:polyline", { points: pointsOf(dots), fill: "none", stroke: "var(--ours)", "stroke-width": 1.5 }));
    for (const [cx, cy] of dots) svg.append(element("svg:circle", { cx, cy, r: 4.5, fill: "var(--ours)" }));
    drawImage("forecast-nad", nads[index].direction);
    input("called").textContent = `NAD ${index}`;
    input("nad").setAttribute("aria-label", `NAD ${index} in pixels`);
  }
  async function initialise() {
    input("draw").disabled = input("train").disabled = true;
    input("clock").textContent = "Initialising …";
    const start = performance.now();
    const share = Math.ceil(NETWORKS / workers.count);
    const jobs = [];
    for (let first = 0; first < NETWORKS; first += share)
      jobs.push(workers.run("secants", { count: Math.min(share, NETWORKS - first), seed: seed + first }));
    const secants = (await Promise.all(jobs)).flat();
    seed += NETWORKS;
    nads = await workers.run("nads", { secants });
    accuracies = [];
    input("clock").textContent = `${NETWORKS} untrained networks and their ${PIXELS} NADs in ${((performance.now() - start) / 1000).toFixed(1)} s`;
    input("tile").hidden = input("choice").hidden = false;
    input("draw").textContent = `Initialise ${NETWORKS} others`;
    input("draw").disabled = input("train").disabled = false;
    show();
  }
  async function train() {
    input("draw").disabled = input("train").disabled = true;
    accuracies = [];
    const start = performance.now();
    const trained = TRAINED.map(async (index) => {
      accuracies.push([index, await workers.run("train", { architecture: "pooled", v: nads[index].direction, seed })]);
      input("clock").textContent = `${accuracies.length} of ${TRAINED.length} networks, ${((performance.now() - start) / 1000).toFixed(0)} s`;
      show();
    });
    await Promise.all(trained);
    input("draw").disabled = input("train").disabled = false;
  }
  input("draw").addEventListener("click", initialise);
  input("train").addEventListener("click", train);
  input("index").addEventListener("input", show);
  addEventListener("resize", show);
  show();
  return initialise;
}

/* Start when an element comes into view, unless the reader prefers no motion. */
function whenSeen(root, start) {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const observer = new IntersectionObserver(
    (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      start();
    },
    { threshold: 0.3 },
  );
  observer.observe(root);
}

const workers = createWorkers();
for (const [name, create] of [["training", trainThree], ["forecast", forecast]]) {
  $(`live-${name}`).hidden = false;
  const start = create(workers);
  whenSeen($(`live-${name}`), () => start());
}
