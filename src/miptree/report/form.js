"use strict";
// What the form does with a typed row: it reads numbers strictly, tells which rules the
// row meets and what adds to them, and finds the least change of one value that gives
// another class. Costs and digits are those of `explain` in Python.
const miptreeForm = ({ facts, nodes, cell, path, predict }) => {
  const ranges = facts.form.columns, splits = facts.form.splits;
  const missing = (value) => value === null || value === undefined || value !== value;
  const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

  // ----------------------------------------------------------------- typing
  // Returns the number, null where the field is empty, or a text: why it is refused.
  function typed(column, text) {
    const given = text.trim(), range = ranges[column.id];
    if (given === "") return null;
    if (/^[+-]?\d*,\d+$/.test(given)) {
      return `write ${column.name} with a point, ${given.replace(",", ".")}, ` +
        `and not as ${given}`;
    }
    if (!NUMBER.test(given) || !Number.isFinite(Number(given))) {
      return `${column.name} is “${given}”, which is no number`;
    }
    const number = Number(given);
    if (range && (number < range.low || number > range.high)) {
      return `${column.name} is ${given}, but it is between ${range.low} and ` +
        `${range.high} in all rows of this page: the tree has learned nothing about ` +
        "others";
    }
    return number;
  }

  // ---------------------------------------------------------------- reasons
  function amount(part, row) {
    const level = cell(part, row);
    return part.weight * (part.falls ? part.levels - level : level);
  }

  function met(node, next, row) {
    const split = splits[node.id], found = new Map();
    const add = (id, more) => found.set(id, (found.get(id) || 0) + more);
    if (split.kind === "points") split.parts.forEach((p) => add(p.column, amount(p, row)));
    else node.terms.forEach((t) => add(t.column, t.coef * cell(t, row) / split.unit));
    const parts = facts.columns.filter((column) => found.has(column.id)).map((column) =>
      ({ column, value: row[column.id], amount: found.get(column.id) }));
    parts.sort((a, b) => Math.abs(b.amount) - Math.abs(a.amount));
    const isGap = split.tells_gaps && missing(parts[0].value);
    return {
      node: node.id, kind: isGap ? "question" : split.kind,
      rule: split.rules[next.id === node.left ? 0 : 1],
      score: parts.reduce((sum, part) => sum + part.amount, 0),
      limit: split.kind === "points" ? split.most : node.threshold / split.unit, parts,
    };
  }

  function reasons(row) {
    const passed = path(row);
    return passed.slice(0, -1).map((node, k) => met(node, passed[k + 1], row));
  }

  // ----------------------------------------------------------------- change
  const round = (x, places) => (places >= 0 ? Number(x.toFixed(Math.min(places, 100)))
    : Math.round(x * 10 ** places) / 10 ** places) + 0;

  // Numbers next to where a split changes its side, the other cells being kept.
  function candidates(column, range, places, row) {
    const step = 10 ** -places, found = new Set();
    const near = (x) => {
      for (let k = -2; k <= 2; k++) found.add(round(round(x, places) + k * step, places));
    };
    for (const node of nodes.values()) {
      let slope = 0, base = 0;
      for (const term of node.terms || []) {
        if (term.column !== column.id) base += term.coef * cell(term, row);
        else if (term.kind === "number") slope += term.coef;
        else if (term.kind === "steps") term.cuts.forEach(near);
      }
      if (slope) near((node.threshold - base) / slope);
    }
    near(range.fill);
    return [...found].filter((x) => x >= range.low && x <= range.high);
  }

  function numbers(column, row) {
    const range = ranges[column.id], cell_ = row[column.id];
    if (!range) return [];
    const usual = missing(cell_) ? range.fill : cell_;
    let places = range.places;
    while (places < range.most_places && round(usual, places) !== usual) places++;
    let start = usual, before = 0;
    if (missing(cell_)) {
      start = Math.min(Math.max(round(usual, places), range.low), range.high);
      before = 1;
    }
    const cost = (x) => before + Math.abs(x - start) / (range.high - range.low);
    return candidates(column, range, places, row).map((x) => [x, cost(x)]);
  }

  function categories(column, row) {
    const n = ranges[column.id] ? ranges[column.id].n_offered : 0;
    return column.values.slice(0, n).filter((value) => value !== row[column.id])
      .map((value) => [value, 1]);
  }

  // The cheapest change of one value after which the page predicts another class.
  function nearestChange(row) {
    const label = predict(row).label;
    let best = null;
    for (const column of facts.columns) {
      const tried = (column.kind === "number" ? numbers : categories)(column, row);
      for (const [after, cost] of tried) {
        if (best !== null && cost >= best.cost) continue;
        const found = predict({ ...row, [column.id]: after });
        if (found.refused || found.label === label) continue;
        best = { column, before: row[column.id], after, cost, label: found.label };
      }
    }
    return best;
  }

  // ------------------------------------------------------------------ words
  const few = (x) => String(Number(x.toPrecision(4)));
  const signed = (x) => (x > 0 ? `+${few(x)}` : few(x).replace("-", "−"));

  function shown(column, value) {
    if (missing(value)) return "missing";
    if (column.kind === "number") return String(value);
    const place = column.values.indexOf(value);
    return place < 0 ? "another value" : column.shown[place];
  }

  function reasonWords(reason) {
    const listed = reason.parts.slice(0, 8).map((part) => {
      const said = `${part.column.name} = ${shown(part.column, part.value)}`;
      if (reason.kind === "question") return said;
      return `${said}: ${reason.kind === "points" ? part.amount : signed(part.amount)}`;
    });
    if (reason.parts.length > 8) listed.push(`${reason.parts.length - 8} more`);
    if (reason.kind === "question") return `Here ${listed.join(", ")}.`;
    const sum = reason.kind === "points" ? `${reason.score} points`
      : `the sum is ${few(reason.score)}, the limit ${few(reason.limit)}`;
    return `Here ${sum} (${listed.join("; ")}).`;
  }

  function changeWords(change) {
    if (change === null) {
      return "No change of one value alone, within the ranges of the rows, gives " +
        "another class.";
    }
    const { column, before, after } = change;
    return `The nearest change of one value: ${column.name} from ` +
      `${shown(column, before)} to ${shown(column, after)} gives ${change.label}.`;
  }

  return { typed, reasons, nearestChange, reasonWords, changeWords };
};
