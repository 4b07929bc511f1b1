const levels: Readonly<Record<number, string>> = {
  10: 'TRACE',
  20: 'DEBUG',
  30: 'INFO',
  40: 'WARN',
  50: 'ERROR',
  60: 'FATAL',
};

/** A JSON log line as text: time, level, event, message, and `name=value`. */
export function textLine(json: string): string {
  const {level, time, event, msg, ...fields} = JSON.parse(json) as Record<string, unknown>;
  const pairs = Object.entries(fields).map(
    ([name, value]) => `${name}=${typeof value === 'number' ? value : JSON.stringify(value)}`,
  );
  const words = [
    new Date(Number(time)).toISOString(),
    levels[Number(level)] ?? String(level),
    event,
    msg,
    ...pairs,
  ];
  return `${words.filter(word => word !== undefined).join(' ')}\n`;
}
