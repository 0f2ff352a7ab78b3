// Numbers the calls of models that this program makes. See the Go package numbering.
// Nothing here may fail the program.
"use strict";

const seed = process.env.NOEMA_SEED;
const start = process.env.NOEMA_CLOCK;
const home = process.env.NOEMA_URL;

// Equal requests are counted where fetch is called, before anything waits.
if (home && typeof globalThis.fetch === "function") {
  const real = globalThis.fetch;
  const counts = new Map();
  const thread = require("node:worker_threads").threadId; // workers are started in an order, too
  const place = thread ? `0.w${thread}` : "0";
  let calls = 0;
  globalThis.fetch = function fetch(input, init) {
    try {
      const url = typeof input === "string" ? input : input instanceof URL ? input.href : input.url;
      const body = init && typeof init.body === "string" ? init.body : undefined;
      if (url.startsWith(home) && body !== undefined) {
        const headers = new Headers(init.headers || (input instanceof Request ? input.headers : undefined));
        const again = Number(headers.get("x-stainless-retry-count") || 0) > 0; // which joins its first attempt
        if (!again) {
          const key = url + "\0" + body;
          const draw = counts.get(key) || 0;
          counts.set(key, draw + 1);
          headers.set("noema-call", `${place}/${calls++};draw=${draw}`);
          init = { ...init, headers };
        }
      }
    } catch {
      // it is sent as it is
    }
    return real.call(this, input, init);
  };
}

// Random numbers: xorshift128+ of Marsaglia and Vigna, seeded.
if (seed) {
  let a = BigInt(seed) & 0xffffffffffffffffn || 1n;
  let b = (a * 0x9e3779b97f4a7c15n) & 0xffffffffffffffffn || 2n;
  const next = () => {
    let x = a;
    const y = b;
    a = y;
    x = (x ^ (x << 23n)) & 0xffffffffffffffffn;
    b = x ^ y ^ (x >> 17n) ^ (y >> 26n);
    return (b + y) & 0xffffffffffffffffn;
  };
  Math.random = () => Number(next() >> 11n) / 2 ** 53;
  const uuid = () => {
    const hex = (next().toString(16).padStart(16, "0") + next().toString(16).padStart(16, "0")).split("");
    hex[12] = "4";
    hex[16] = "89ab"[parseInt(hex[16], 16) & 3];
    const s = hex.join("");
    return `${s.slice(0, 8)}-${s.slice(8, 12)}-${s.slice(12, 16)}-${s.slice(16, 20)}-${s.slice(20)}`;
  };
  try {
    globalThis.crypto.randomUUID = uuid;
    require("node:crypto").randomUUID = uuid;
  } catch {
    // they stay random, and are taken out of requests
  }
}

// The clock begins at NOEMA_CLOCK and goes on by a millisecond at each look.
if (start) {
  const Real = Date;
  let now = Number(start) * 1000;
  const look = () => ++now;
  globalThis.Date = class Date extends Real {
    constructor(...given) {
      super(...(given.length ? given : [look()]));
    }
    static now() {
      return look();
    }
  };
}
