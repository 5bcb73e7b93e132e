import { sea } from './sea.js';
const LIMIT = 3;

/** Adds two tides. */
export function tide(moon, height = 1) {
  return moon + height;
}

export default class Harbour extends Port {
  #depth = 3;
  static name = 'x';

  /** Makes one. */
  constructor(depth) {
    super();
  }

  get depth() { return this.#depth; }

  handle = (event) => {
    this.fire(event);
  };

  static async *ships() {
    yield 1;
  }
}

// Arrow assigned to a name.
export const wave = async (x) => {
  const inner = () => x;
  return inner();
};

const short = x => x + 1, other = function () { return 2; };

exports.dock = function (ship) {
  return ship;
};
Harbour.prototype.leave = function leave() {
  return 1;
};

(function () {
  function hidden() {
    return 42;
  }
  hidden();
})();

const handlers = {
  open() {
    return 1;
  },
  close: function () {
    return 2;
  },
};

function first() { return 1; } function second() { return 2; }

function* generate() {
  yield 1;
}
