"use strict";
// What the form does with a typed row: it reads numbers strictly, tells which rules the
// row meets and what adds to them, and puts changes into words.
const miptreeForm = ({ facts, cell, path }) => {
  const ranges = facts.form.columns, splits = facts.form.splits;
  const columns = new Map(facts.columns.map((column) => [column.id, column]));
  const missing = (value) => value === null || value === undefined || value !== value;
  const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
  const MOST_SHOWN = 8; // contributions of a split that are listed one by one
  const TINY = 1e-6; // part of the largest contribution below which others are about 0

  // ----------------------------------------------------------------- typing
  // Returns the number, null where the field is empty, or a text: why it is refused.
  function typed(column, text) {
    const given = text.trim(), range = ranges[column.id];
    if (given === "") return null;
    if (/^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$/.test(given)) {
      const isOne = !given.includes(".") && given.indexOf(",") === given.lastIndexOf(",");
      const fraction = isOne ? `, or as ${given.replace(",", ".")} if it is a fraction` : "";
      return `write ${column.name} without commas as ${given.replaceAll(",", "")}${fraction}, ` +
        `and not as ${given}`;
    }
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
        `${range.high} in all training rows: the tree has learned nothing about ` +
        "others";
    }
    return number;
  }

  // ---------------------------------------------------------------- reasons
  function amount(part, row) {
    const level = cell(part, row);
    return part.weight * (part.falls ? part.levels - level : level);
  }

  // What the columns of a split add, and by how much that differs from what they add where
  // numbers are typical, the medians that stand for missing ones: a year adds much and
  // moves little. Columns come in the order of the terms, as in Python.
  function addedBy(node, split, row) {
    const found = new Map();
    const add = (id, amount, moved) => {
      const one = found.get(id) || { amount: 0, moved: 0 };
      found.set(id, { amount: one.amount + amount, moved: one.moved + moved });
    };
    if (split.kind === "points") {
      split.parts.forEach((p) => add(p.column, amount(p, row), amount(p, row)));
      return found;
    }
    for (const term of node.terms) {
      const value = cell(term, row), typical = term.kind === "number" ? term.fill : 0;
      add(term.column, term.coef * value / split.unit, term.coef * (value - typical));
    }
    return found;
  }

  function met(node, next, row) {
    const split = splits[node.id], isCard = split.kind === "points";
    const found = [...addedBy(node, split, row)];
    found.sort(([, a], [, b]) => Math.abs(b.moved) - Math.abs(a.moved));
    const parts = found.map(([id, one]) =>
      ({ column: columns.get(id), value: row[id], amount: one.amount }));
    const isGap = split.tells_gaps && missing(parts[0].value);
    const score = isCard ? parts.reduce((sum, part) => sum + part.amount, 0)
      : node.terms.reduce((sum, term) => sum + term.coef * cell(term, row), 0);
    const [limit, unit] = isCard ? [split.most, 1] : [node.threshold, split.unit];
    return {
      node: node.id, kind: isGap ? "question" : split.kind,
      rule: split.rules[next.id === node.left ? 0 : 1], told: split.told,
      score: score / unit, limit: limit / unit, distance: Math.abs((score - limit) / unit),
      parts,
    };
  }

  function reasons(row) {
    const passed = path(row);
    return passed.slice(0, -1).map((node, k) => met(node, passed[k + 1], row));
  }

  // ------------------------------------------------------------------ words
  const few = (x, digits = 4) => String(Number(x.toPrecision(digits)));

  // What is added has so many digits that people who add it up find the sum.
  function signed(x, lastPlace) {
    const digits = Math.min(Math.max(leadingPlace(x) - lastPlace + 1, 4), 15);
    return x > 0 ? `+${few(x, digits)}` : few(x, digits).replace("-", "−");
  }
  const leadingPlace = (x) => (x ? Math.floor(Math.log10(Math.abs(x))) : 0);

  // How many digits of a number count; zeros at the end of a whole one may not.
  function digitsOf(text) {
    const digits = text.replace(/e.*$/, "").replace(/\D/g, "").replace(/^0+/, "");
    return (text.includes(".") ? digits : digits.replace(/0+$/, "")).length;
  }

  // With how many digits the distance of a sum from its limit shows, and no fewer than
  // the rule has.
  function sumDigits({ score, limit, told }) {
    const far = Math.abs(score - limit), size = Math.max(Math.abs(score), Math.abs(limit));
    const more = far > 0 ? Math.ceil(Math.log10(size / far)) - 1 : 0;
    return Math.min(Math.max(4 + more, 4, digitsOf(told)), 17);
  }

  // Says how far a sum is from its limit. A rule may show a limit that is rounded: not
  // the exact one.
  function sumWords(reason) {
    const { score, limit, distance, told } = reason, digits = sumDigits(reason);
    const start = `the sum is ${few(score, digits)}`;
    if (distance === 0) return `${start}, just the limit`;
    const isRounded = Number(told) !== Number(few(limit, digits));
    return `${start}, ${few(distance, 3)} ${score <= limit ? "below" : "above"} ` +
      `${isRounded ? "the exact limit " : ""}${few(limit, digits)}`;
  }

  function shown(column, value) {
    if (missing(value)) return "missing";
    if (column.kind === "number") return String(value);
    const place = column.values.indexOf(value);
    return place < 0 ? "another value" : column.shown[place];
  }

  function reasonWords({ kind, parts, ...reason }) {
    const isSum = kind === "sum";
    const place = isSum &&
      leadingPlace(reason.score || reason.limit) - sumDigits(reason) + 1;
    const largest = Math.max(...parts.map((part) => Math.abs(part.amount)));
    const tiny = Math.min(TINY * largest, 10 ** place);
    const added = (amount) => (!isSum ? amount
      : amount && Math.abs(amount) < tiny ? "about 0" : signed(amount, place));
    const listed = parts.slice(0, MOST_SHOWN).map((part) => {
      const said = `${part.column.name} = ${shown(part.column, part.value)}`;
      return kind === "question" ? said : `${said}: ${added(part.amount)}`;
    });
    const rest = parts.slice(MOST_SHOWN), of = rest.length > 1 ? "features" : "feature";
    if (rest.length) {
      const more = rest.reduce((sum, part) => sum + part.amount, 0);
      listed.push(`${rest.length} more ${of}${kind === "question" ? "" : `: ${added(more)}`}`);
    }
    if (kind === "question") return `Here ${listed.join(", ")}.`;
    const sum = kind === "points" ? `${reason.score} points` : sumWords(reason);
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
      const none = "within the ranges of the training rows, gives another class.";
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
