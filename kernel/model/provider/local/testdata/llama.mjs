// Runs models on llama.cpp, by the package node-llama-cpp in the folder of the
// first argument. A line of input is a job; a line of output its answer.
import {createRequire} from "node:module";
import {pathToFileURL} from "node:url";
import readline from "node:readline";

const found = createRequire(process.argv[2] + "/").resolve("node-llama-cpp");
const {getLlama} = await import(pathToFileURL(found));
const llama = await getLlama({gpu: false, build: "never", logLevel: "error"});

// greedy gives, after each token, the one it takes and log probabilities of the likeliest.
async function greedy(sequence, prompt, steps) {
  const out = [];
  await sequence.clearHistory();
  for (let feed = prompt; out.length < steps; feed = [out.at(-1).token]) {
    const last = feed.length - 1;
    const ask = [feed[last], {generateNext: {token: true, probabilities: true, options: {temperature: 0}}}];
    const {next} = (await sequence.controlledEvaluate([...feed.slice(0, last), ask]))[last];
    const top = [...next.probabilities].slice(0, 20).map(([t, p]) => ({token: Number(t), logprob: Math.log(p)}));
    out.push({token: Number(next.token), top});
  }
  return out;
}

// speed gives tokens by second, of processor time and of the clock, and the memory of the process.
async function speed(context, job) {
  const rates = {cpu: {}, clock: {}};
  const measure = async (name, tokens, work) => {
    const cpu = process.cpuUsage(), start = performance.now();
    await work();
    const {user, system} = process.cpuUsage(cpu);
    rates.clock[name] = tokens * 1e3 / (performance.now() - start);
    rates.cpu[name] = tokens * 1e6 / (user + system);
  };
  for (const n of job.prefill) {
    const sequence = context.getSequence(), prompt = Array.from({length: n}, (_, i) => 300 + i % 1000);
    await measure("prefill" + n, n, () => sequence.controlledEvaluate(prompt));
    sequence.dispose();
  }
  for (const n of job.decode) {
    const all = Array.from({length: n}, () => context.getSequence()), steps = Math.max(4, job.steps / n);
    await Promise.all(all.map((s) => s.controlledEvaluate([300, 301, 302, 303])));
    await measure("decode" + n, n * steps, () => Promise.all(all.map(async (s) => {
      let at = 0;
      for await (const _ of s.evaluate([304], {temperature: 0, yieldEogToken: true})) if (++at >= steps) break;
    })));
    all.forEach((s) => s.dispose());
  }
  return {...rates, memory: process.memoryUsage().rss};
}

for await (const line of readline.createInterface({input: process.stdin})) {
  const job = JSON.parse(line), model = await llama.loadModel({modelPath: job.file});
  const context = await model.createContext({contextSize: job.context, sequences: job.sequences ?? 1, batchSize: 512, threads: job.threads, flashAttention: false,
    experimentalKvCacheKeyType: "F32", experimentalKvCacheValueType: "F32"});
  if (job.prefill) {
    console.log(JSON.stringify(await speed(context, job)));
  } else {
    const sequence = context.getSequence(), all = [];
    for (const prompt of job.prompts) all.push(await greedy(sequence, prompt, job.steps));
    console.log(JSON.stringify(all));
  }
  await context.dispose();
  await model.dispose();
}
process.exit(0);
