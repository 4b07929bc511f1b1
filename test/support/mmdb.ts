// Writes files in the format of MaxMind DB (https://maxmind.github.io/MaxMind-DB/), so that tests need no large ones.

/** Strings, and numbers that are written as 32-bit floats, as in DB-IP's data. */
type Fields = Readonly<Record<string, string | number>>;

/** A node of the search tree: for the next bit 0 and 1, another node or the record of all addresses below. */
interface Node {
  readonly branches: [Node | Fields | undefined, Node | Fields | undefined];
}

const isNode = (branch: Node | Fields | undefined): branch is Node =>
  Array.isArray((branch as Node | undefined)?.branches);

const SEPARATOR = Buffer.alloc(16);
const METADATA_MARK = Buffer.concat([Buffer.from('abcdef', 'hex'), Buffer.from('MaxMind.com')]);

/** @param networks records of IPv4 networks such as `8.8.8.0/24`, none inside another */
export function mmdb(networks: ReadonlyMap<string, Fields>, built: Date): Buffer {
  const root: Node = {branches: [undefined, undefined]};
  for (const [network, fields] of networks) insert(root, network, fields);
  const nodes = [root];
  for (const {branches} of nodes) nodes.push(...branches.filter(isNode));
  const numbers = new Map(nodes.map((node, index) => [node, index]));

  const data: Buffer[] = [];
  let length = 0;
  const tree = Buffer.alloc(nodes.length * 8);
  nodes.forEach(({branches}, index) => {
    branches.forEach((branch, bit) => {
      let pointer = nodes.length;
      if (isNode(branch)) pointer = numbers.get(branch) ?? 0;
      else if (branch !== undefined) {
        pointer = nodes.length + SEPARATOR.length + length;
        const record = map(branch);
        data.push(record);
        length += record.length;
      }
      tree.writeUInt32BE(pointer, index * 8 + bit * 4);
    });
  });
  return Buffer.concat([tree, SEPARATOR, ...data, METADATA_MARK, metadata(nodes.length, built)]);
}

function insert(root: Node, network: string, fields: Fields): void {
  const [address = '', prefix] = network.split('/');
  const bits = address
    .split('.')
    .map(part => Number(part).toString(2).padStart(8, '0'))
    .join('')
    .slice(0, Number(prefix));
  let node = root;
  [...bits].map(Number).forEach((bit, depth) => {
    if (depth === bits.length - 1) {
      node.branches[bit] = fields;
      return;
    }
    const next = node.branches[bit];
    const child: Node = isNode(next) ? next : {branches: [undefined, undefined]};
    node.branches[bit] = child;
    node = child;
  });
}

function metadata(nodeCount: number, built: Date): Buffer {
  const epoch = Buffer.alloc(8);
  epoch.writeBigUInt64BE(BigInt(Math.floor(built.getTime() / 1_000)));
  const entries: [string, Buffer][] = [
    ['binary_format_major_version', number(5, 2)],
    ['binary_format_minor_version', number(5, 0)],
    // The type 9, unsigned with 64 bits, is an extended one.
    ['build_epoch', Buffer.concat([Buffer.from([8, 2]), epoch])],
    ['database_type', text('test')],
    ['ip_version', number(5, 4)],
    ['node_count', number(6, nodeCount)],
    ['record_size', number(5, 32)],
  ];
  return Buffer.concat([
    control(7, entries.length),
    ...entries.flatMap(([name, value]) => [text(name), value]),
  ]);
}

function map(fields: Fields): Buffer {
  const entries = Object.entries(fields);
  const values = entries.flatMap(([name, value]) => [
    text(name),
    typeof value === 'string' ? text(value) : float(value),
  ]);
  return Buffer.concat([control(7, entries.length), ...values]);
}

/** The byte before a value: its type and its size, which is below 29 here. */
function control(type: number, size: number): Buffer {
  if (size >= 29) throw new Error(`${size} is too long for a test's file`);
  return Buffer.from([(type << 5) | size]);
}

const text = (value: string): Buffer => {
  const bytes = Buffer.from(value);
  return Buffer.concat([control(2, bytes.length), bytes]);
};

const number = (type: 5 | 6, value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  const short = type === 5 ? bytes.subarray(2) : bytes;
  return Buffer.concat([control(type, short.length), short]);
};

/** The extended type 15. */
const float = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatBE(value);
  return Buffer.concat([Buffer.from([4, 8]), bytes]);
};
