"use strict";
// What the form does with a typed row: it reads numbers strictly, tells which rules the
// row meets and what adds to them, and puts changes into words.
const miptreeForm = ({ facts, cell, path }) => {
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
        `${range.high} in all ${facts.form.rows}: the tree has learned nothing about ` +
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
    const limit = few(reason.limit); // a rule may show it with fewer digits than it has
    const which = reason.rule.includes(limit) ? "the limit" : "the exact limit";
    const sum = reason.kind === "points" ? `${reason.score} points`
      : `the sum is ${few(reason.score)}, ${which} ${limit}`;
    return `Here ${sum} (${listed.join("; ")}).`;
  }

  function changedWords({ column, before, after, others }, isFree) {
    const values = [after, ...(isFree ? others : [])].map((v) => shown(column, v));
    const more = values.length > 5 ? [`${values.length - 4} more values`] : [];
    const named = more.length ? [...values.slice(0, 4), ...more] : values;
    return `${column.name} from ${shown(column, before)} to ${named.join(" or ")}`;
  }

  // Returns how a sentence on a change begins, and what changes, part by part.
  function changeWords({ changes, isNearest, hasOthers, label }, hasKept) {
    const which = hasKept ? "the values that may change" : "these values";
    if (changes === null) {
      if (!hasOthers) return ["No leaf of the tree gives another class.", []];
      const none = `within the ranges of the ${facts.form.rows}, gives another class.`;
      return [isNearest ? `No change of ${which}, ${none}`
        : `No change of ${which} was found that, ${none}`, []];
    }
    // Of two columns each may have other values, but not surely both at once.
    const isFree = changes.filter(({ others }) => others.length).length === 1;
    const start = isNearest ? "The nearest change" : "A change, not surely the nearest,";
    return [`${start} that gives ${label}:`,
      changes.map((part) => changedWords(part, isFree))];
  }

  return { typed, reasons, reasonWords, changeWords };
};
