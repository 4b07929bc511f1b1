/** Loaded before a command: its clock begins at NIGHT, and goes on from there. */
const RealDate = Date;
const ahead = RealDate.parse(process.env.NIGHT) - RealDate.now();

globalThis.Date = class extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(RealDate.now() + ahead);
    else super(...given);
  }

  static now() {
    return RealDate.now() + ahead;
  }
};
