"use strict";
// The nearest change of a row after which the page predicts another class: the least sum
// of what its parts cost, of a number the part of its training range that it moves by, of
// a category 1. For every leaf of another class it is a small program in whole numbers,
// solved by branch and bound. It is what `explain` finds in Python, with the same costs.
const miptreeChange = ({ facts, nodes, cell, path, predict }) => {
  const ranges = facts.form.columns;
  const FILLED_IN = 1; // cost of a missing number that is filled in
  const MOST_WHOLE = 10000; // steps of a range up to which all of them are looked at
  const MOST_NODES = 5000; // programs that are solved for a row
  const MOST_LEFT_OUT = 50; // changes that end on a split, where rounding decides
  const PASSED = 1e-8; // share of what a sum can vary by, by which a split is passed
  const PASSED_CLEARLY = 4e-6; // the same in Python, where numbers are rounded
  const SAME = 1e-6, ROUND = 1e-6; // what counts as an equal cost, and as whole
  const missing = (value) => value === null || value === undefined || value !== value;

  // ----------------------------------------------------------------- numbers
  function round(x, places) {
    if (places < 0) return Math.round(x / 10 ** -places) * 10 ** -places + 0;
    return Number(places > 100 ? x.toPrecision(15) : x.toFixed(places)) + 0;
  }

  // Numbers of a column's digits next to another one, and the outermost in its range.
  function above(x, places) {
    const near = round(x, places);
    return near >= x ? near : round(near + 10 ** -places, places);
  }
  function below(x, places) {
    const near = round(x, places);
    return near < x ? near : round(near - 10 ** -places, places);
  }
  function ends({ low, high }, places) {
    const last = round(high, places);
    return [above(low, places), last > high ? round(last - 10 ** -places, places) : last];
  }

  // ------------------------------------------------------------------- moves
  // What a cell may become: a number that slides, or one of some values, the first of
  // which is what it is. Null where it can only stay.
  function moveOf(column, row) {
    const range = ranges[column.id];
    const value = missing(row[column.id]) ? null : row[column.id];
    if (!range) return null;
    if (column.kind !== "number") {
      const others = column.values.slice(0, range.n_offered).filter((v) => v !== value);
      return options(column, [value, ...others], [0, ...others.map(() => 1)]);
    }
    const slide = slideOf(column, range, value);
    return range.cuts ? cellsOf(slide, range.cuts) : slide;
  }

  function options(column, values, costs) {
    const cost = (value) => costs[values.indexOf(value)];
    return values.length > 1 ? { column, values, costs, cost } : null;
  }

  function slideOf(column, range, value) {
    let places = range.places, start = value === null ? range.start : value;
    while (places < range.most_places && round(start, places) !== start) places++;
    const [low, high] = ends(range, places), width = range.high - range.low;
    if (start < range.low || start > range.high) {
      start = Math.min(Math.max(round(start, places), low), high);
    }
    const fixed = value === null ? FILLED_IN : Math.abs(value - start) / width;
    const steps = width * 10 ** places;
    const isWhole = round(start, places) === start && steps <= MOST_WHOLE * (1 + 1e-9);
    const cost = (x) => (x === value ? 0 : fixed + Math.abs(x - start) / width);
    return { column, value, start, places, low, high, width, fixed, steps, isWhole, cost };
  }

  const isFree = (move) => !move.values && !move.isWhole;

  // The nearest number of each step of a grid.
  function cellsOf(slide, cuts) {
    const stepOf = (x) => cuts.filter((c) => c <= x).length;
    const values = [slide.value], own = stepOf(slide.start);
    for (let step = 0; step <= cuts.length; step++) {
      let x = slide.start;
      if (step > own) x = above(cuts[step - 1], slide.places);
      if (step < own) x = below(cuts[step], slide.places);
      x = Math.min(Math.max(x, slide.low), slide.high);
      if (x !== slide.value && stepOf(x) === step) values.push(x);
    }
    return options(slide.column, values, values.map(slide.cost));
  }

  // ---------------------------------------------------------------- programs
  const termsOf = (node, id) => node.terms.filter((term) => term.column === id);
  const added = (node, id, value) => termsOf(node, id)
    .reduce((sum, term) => sum + term.coef * cell(term, { [id]: value }), 0);
  const slopeOf = (node, id) => termsOf(node, id)
    .reduce((sum, term) => sum + (term.kind === "number" ? term.coef : 0), 0);

  const scoreOf = (node, row) => node.terms
    .reduce((sum, term) => sum + term.coef * cell(term, row), 0);

  // The splits above each leaf, and whether it lies to their left.
  function waysOf(node, way) {
    if (node.label !== undefined) return [{ leaf: node, way }];
    return [[node.left, true], [node.right, false]].flatMap(([child, goesLeft]) =>
      waysOf(nodes.get(child), [...way, { node, goesLeft }]));
  }
  const leaves = waysOf(nodes.get(0), []);

  // Of values that all splits on the way read alike the cheapest is enough.
  function distinct(move, way) {
    const best = new Map();
    move.values.forEach((value, k) => {
      const read = way.map(({ node }) => added(node, move.column.id, value)).join(" ");
      if (!best.has(read) || move.costs[k] < best.get(read).cost) {
        best.set(read, { value, cost: move.costs[k] });
      }
    });
    return [...best.values()];
  }

  // Variables of a move, from 0 to `upper`; a number's are parts of its range.
  function variablesOf(move, way, first) {
    const id = move.column.id;
    if (move.values) {
      const own = move.values[0];
      const chosen = distinct(move, way).filter((option) => option.value !== own);
      const isOne = { signs: chosen.map(() => -1), least: -1 };
      return {
        move, first, chosen, cost: chosen.map((o) => o.cost), upper: chosen.map(() => 1),
        whole: chosen.map(() => 1), links: chosen.length > 1 ? [isOne] : [],
        amounts: (node) => chosen.map((o) => added(node, id, o.value) - added(node, id, own)),
      };
    }
    const whole = move.isWhole ? move.steps : 0;
    const reach = [move.high - move.start, move.start - move.low].map((far) => Math.max(0,
      whole ? Math.floor(far / move.width * whole + 1e-9) / whole : far / move.width));
    const found = {
      move, first, cost: [1, 1], upper: reach, whole: [whole, whole], links: [],
      amounts: (node) => {
        const slope = slopeOf(node, id) * move.width;
        const jump = added(node, id, move.start) - added(node, id, move.value);
        return [slope, -slope, jump].slice(0, found.cost.length);
      },
    };
    if (move.value !== move.start) { // whether it moves at all is a choice of its own
      found.cost.push(move.fixed);
      found.upper.push(1);
      found.whole.push(1);
      found.links = [0, 1].map((k) => ({
        signs: [0, 1, 2].map((j) => (j === k ? -1 : j === 2 ? reach[k] : 0)), least: 0,
      }));
    }
    return found;
  }

  // The program of a leaf: splits are passed by a share of what their sums can vary by.
  // Null where a split that nothing can change has the row on its other side.
  function programOf({ way }, moves, row, margin) {
    const parts = [], upper = [], cost = [], whole = [], rows = [], least = [], splits = [];
    for (const move of moves) {
      if (!way.some(({ node }) => termsOf(node, move.column.id).length)) continue;
      const part = variablesOf(move, way, cost.length);
      parts.push(part);
      upper.push(...part.upper);
      cost.push(...part.cost);
      whole.push(...part.whole);
    }
    const line = (part, amounts) => {
      const found = new Array(cost.length).fill(0);
      amounts.forEach((a, k) => { found[part.first + k] = a; });
      return found;
    };
    for (const part of parts) {
      for (const link of part.links) {
        rows.push(line(part, link.signs));
        least.push(link.least);
      }
    }
    for (const { node, goesLeft } of way) {
      const amounts = parts.flatMap((part) => part.amounts(node));
      const swing = amounts.reduce((sum, a, k) => sum + Math.abs(a) * upper[k], 0);
      const score = scoreOf(node, row);
      if (swing === 0) {
        if ((score <= node.threshold) !== goesLeft) return null;
        continue;
      }
      const sign = goesLeft ? -1 : 1, limit = clearLimit(node, goesLeft, score, amounts, whole);
      splits.push({ node, goesLeft, amounts });
      rows.push(amounts.map((a) => sign * a / swing));
      least.push(sign * (limit - score) / swing + margin);
    }
    const free = parts.map((part) => part.move).filter(isFree);
    const start = miptreeSimplex.begin(cost, rows, least);
    return { parts, free, splits, upper, whole, start };
  }

  // Where all sums are multiples of a number but for a constant, as those of points are,
  // the limit is the last one that goes left, or the first that goes right.
  function clearLimit({ threshold }, goesLeft, score, amounts, whole) {
    const isMultiple = (x, unit) => Math.abs(x / unit - Math.round(x / unit)) < 1e-9;
    for (const unit of [1, 0.1, 0.01, 0.001]) {
      const isClear = amounts.every((a, k) => whole[k] && isMultiple(a / whole[k], unit));
      if (!isClear) continue;
      const steps = (threshold - score) / unit, isOn = isMultiple(threshold - score, unit);
      const isExact = unit === 1 && Number.isInteger(score) && Number.isInteger(threshold);
      if (isOn && !isExact) return threshold; // rounding decides
      const last = isOn ? Math.round(steps) : Math.floor(steps);
      return score + unit * (goesLeft ? last + 1e-6 : last + 1 - 1e-6);
    }
    return threshold;
  }

  // --------------------------------------------------------- branch and bound
  // Numbers that a free number is tried with: some steps about it.
  function near(move, x, reach) {
    const step = 10 ** -move.places, low = round(x, move.places), found = new Set();
    for (let k = -reach; k <= reach; k++) {
      found.add(Math.min(Math.max(round(low + k * step, move.places), move.low), move.high));
    }
    return [...found];
  }

  // The rows that a solution of a program may mean: numbers that are between two steps
  // get those, free ones some more.
  function meant({ parts }, x) {
    const isMoved = ({ move, first }) => isFree(move) && x[first] !== x[first + 1];
    const nMoved = parts.filter(isMoved).length;
    const reach = nMoved <= 2 ? 5 : nMoved <= 4 ? 1 : 0;
    let found = [{}];
    for (const part of parts) {
      const { move } = part, at = x.slice(part.first, part.first + part.cost.length);
      let values;
      if (move.values) {
        const rest = 1 - at.reduce((sum, z) => sum + z, 0);
        const most = Math.max(rest, ...at), k = at.indexOf(most);
        values = [k < 0 || rest === most ? move.values[0] : part.chosen[k].value];
      } else {
        const moved = at[0] - at[1];
        if (Math.abs(moved) < 1e-12 && !(at[2] > 0.5)) continue;
        if (move.isWhole) {
          const steps = moved * move.steps;
          const both = new Set([Math.floor(steps + ROUND), Math.ceil(steps - ROUND)]);
          values = [...both].map((k) => round(move.start + k * 10 ** -move.places, move.places));
        } else values = near(move, move.start + moved * move.width, reach);
      }
      if (found.length * values.length > 400) values = values.slice(0, 1);
      found = found.flatMap((one) => values.map((v) => ({ ...one, [move.column.id]: v })));
    }
    return found;
  }

  // Bounds where a variable is from one whole number to another.
  function within({ whole }, { lower, higher }, j, from, to) {
    const found = { lower: lower.slice(), higher: higher.slice() };
    found.lower[j] = Math.max(lower[j], from / whole[j]);
    found.higher[j] = Math.min(higher[j], to / whole[j]);
    return found;
  }

  // Parts a program in two at a number that should be whole; null where all are.
  function parted(program, bounds, x) {
    const { whole } = program;
    let best = -1, most = ROUND;
    x.forEach((value, j) => {
      if (!whole[j]) return;
      const steps = value * whole[j], off = Math.abs(steps - Math.round(steps));
      if (off > most) [best, most] = [j, off];
    });
    if (best < 0) return null;
    const last = Math.floor(x[best] * whole[best]);
    return [[-Infinity, last], [last + 1, Infinity]].map(([from, to]) =>
      within(program, bounds, best, from, to));
  }

  // Parts a program so that a point is left out that lies on a split, where rounding
  // decides, and goes to its other side. Null where a free number may still help.
  function around(program, bounds, x, row) {
    const { whole, splits } = program, after = meant(program, x)[0];
    const { amounts } = splits.find(({ node, goesLeft }) =>
      (scoreOf(node, { ...row, ...after }) <= node.threshold) !== goesLeft) || { amounts: x };
    const isOpen = (k) => amounts[k] !== 0 && bounds.lower[k] < bounds.higher[k];
    if (x.some((_, k) => !whole[k] && isOpen(k))) return null;
    const j = x.findIndex((_, k) => isOpen(k));
    if (j < 0) return [];
    const at = Math.round(x[j] * whole[j]);
    return [[-Infinity, at - 1], [at, at], [at + 1, Infinity]]
      .map(([from, to]) => within(program, bounds, j, from, to))
      .filter(({ lower, higher }) => lower[j] <= higher[j]);
  }

  // The cheapest change; the searches of all leaves share the best one that is known.
  function search(row, moves, goals, margin) {
    const known = new Map(moves.map((move) => [move.column.id, move]));
    const labelOf = (passed) => passed[passed.length - 1].label;
    const own = labelOf(path(row)), open = [];
    let best = null, isSure = true, nLeft = MOST_NODES, nLeftOut = 0;
    const isCheap = (bound) => best === null || bound < best.cost - SAME;

    function look(program, bounds, from) {
      const found = miptreeSimplex.solve(from, bounds.lower, bounds.higher);
      if (found.x === null) return;
      if (found.x === undefined) { isSure = false; return; }
      if (isCheap(found.cost)) open.push({ program, bounds, ...found });
    }

    function offer(program, x) {
      let flips = false;
      for (const after of meant(program, x)) {
        let cost = 0;
        for (const id of Object.keys(after)) cost += known.get(Number(id)).cost(after[id]);
        if (labelOf(path({ ...row, ...after })) === own) continue;
        flips = true;
        if (best === null || cost < best.cost) best = { after, cost };
      }
      return flips;
    }

    for (const goal of goals) {
      const program = programOf(goal, moves, row, margin);
      if (program === null) continue;
      const lower = program.upper.map(() => 0), higher = program.upper;
      look(program, { lower, higher }, program.start);
    }
    while (open.length) {
      let place = 0;
      open.forEach((node, k) => { if (node.cost < open[place].cost) place = k; });
      const { program, bounds, state, x, cost } = open.splice(place, 1)[0];
      if (!isCheap(cost)) break; // the others cost no less
      const flips = offer(program, x), wholes = parted(program, bounds, x);
      let parts = wholes;
      if (parts === null && flips) {
        // Free numbers end a few steps from where the program has them.
        const few = program.free.reduce((sum, move) => sum + 6 / move.steps, SAME);
        parts = best.cost <= cost + few ? [] : null;
      } else if (parts === null && nLeftOut++ < MOST_LEFT_OUT) {
        parts = around(program, bounds, x, row);
      }
      if (parts === null || nLeft-- <= 0) isSure = false;
      if (nLeft < 0) break;
      for (const part of parts || []) look(program, part, state);
    }
    return { best, isSure };
  }

  // Where too many changes end on a split, it has to be passed by a little; by a bit more
  // where numbers are rounded and that leaves it unsure: by as much as `explain` has them
  // pass it, or, where even so nothing flips, by what rounding can move a sum. Free numbers
  // end beside a split all the same.
  function passing(row, moves, goals) {
    const first = search(row, moves, goals, 0), free = moves.filter(isFree);
    if (first.isSure) return first;
    const next = search(row, moves, goals, PASSED);
    let best = cheaper(first.best, next.best);
    const isSure = free.length > 0 && next.isSure && next.best !== null;
    if (isSure || !free.length) return { best, isSure };
    best = cheaper(best, search(row, moves, goals, PASSED_CLEARLY).best);
    if (best === null) {
      const margin = free.reduce((sum, move) => sum + 1 / move.steps, PASSED);
      ({ best } = search(row, moves, goals, margin));
    }
    return { best, isSure };
  }

  const cheaper = (a, b) => (b === null || (a !== null && a.cost < b.cost) ? a : b);

  // Returns { cost, label, leaf, isNearest, changes }, with changes null where there are
  // none: isNearest tells then that there is none, and otherwise that none is cheaper;
  // hasOthers tells whether any leaf has another class.
  function nearestChange(row, fixed = []) {
    const own = predict(row).label;
    const goals = leaves.filter(({ leaf }) => facts.classes[leaf.label] !== own);
    const moves = facts.columns.filter((column) => !fixed.includes(column.id))
      .map((column) => moveOf(column, row)).filter((move) => move !== null);
    const { best, isSure } = passing(row, moves, goals);
    const now = best === null ? { refused: "" } : predict({ ...row, ...best.after });
    if (now.refused !== undefined || now.label === own) {
      return { changes: null, isNearest: isSure && best === null, hasOthers: goals.length > 0 };
    }
    const { label, leaf } = now;
    const changed = facts.columns.filter(({ id }) => id in best.after &&
      best.after[id] !== row[id] && !(missing(best.after[id]) && missing(row[id])));
    const changes = changed.map((column) => ({
      column, before: row[column.id], after: best.after[column.id],
      others: others(column, row, best.after, label),
    }));
    return { cost: best.cost, label, leaf, isNearest: isSure, changes };
  }

  // Other values of a changed category that give the same class.
  function others(column, row, after, label) {
    if (column.kind === "number") return [];
    return column.values.slice(0, ranges[column.id].n_offered).filter((value) => {
      if (value === row[column.id] || value === after[column.id]) return false;
      return predict({ ...row, ...after, [column.id]: value }).label === label;
    });
  }

  return { nearestChange };
};
