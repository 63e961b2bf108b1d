// The package `fishweir-scorer`: a model in a device's numbers, by plain exports.
"use strict";

class Scorer {
  static async of(module) {
    // It reads memory alone. What it asks the system for it gets no answer to, but for random numbers: its tables' keys may be zero.
    const imports = {};
    for (const { module: from, name } of WebAssembly.Module.imports(module)) {
      imports[from] ??= {};
      imports[from][name] = () => (name === "random_get" ? OK : NO_SYSTEM);
    }
    const own = new Scorer();
    own.exports = (await WebAssembly.instantiate(module, imports)).exports;
    own.exports._initialize?.();
    return own;
  }
  give(bytes) {
    const { clear, put } = this.exports;
    clear();
    for (const byte of bytes) put(byte);
  }
  answer(isGood) {
    const bytes = Uint8Array.from({ length: this.exports.text_length() }, (_, i) => this.exports.text_byte(i));
    const text = new TextDecoder().decode(bytes);
    return isGood ? { found: JSON.parse(text) } : { refused: text };
  }
  load(artefact) {
    this.give(artefact);
    const answer = this.answer(this.exports.load());
    this.classes = answer.found?.classes;
    return answer;
  }
  decide(file) {
    this.give(file);
    return this.answer(this.exports.decide());
  }
  /// Takes rows in; decisions on the windows that they fill, and how many were refused.
  push(rows, begin) {
    const { set, push, margin, probability } = this.exports;
    if (begin) this.exports.begin();
    const decisions = [], since = performance.now();
    let refused = 0;
    for (const [index, row] of rows.entries()) {
      row.forEach((value, channel) => set(channel, value));
      const decided = push();
      if (decided === -2) refused += 1;
      if (decided >= 0) decisions.push({ class: this.classes[decided], margin: margin(), probability: probability(), row: index });
    }
    return { decisions, refused, milliseconds: performance.now() - since };
  }
}
