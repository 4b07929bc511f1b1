import fengari from 'fengari';

const {lua, lauxlib, lualib, to_luastring: luaText} = fengari;

/** One Lua for all scripts: Redis, too, runs one at a time. */
const L = lauxlib.luaL_newstate();
/** The scripts that were compiled, by their source. */
const compiled = new Map();
/** What answers `redis.call` now. */
let answer = () => null;

prepare();

/** Runs a script as Redis does, each `redis.call` of it with `call`, and returns its reply. */
export function runScript(source, keys, args, call) {
  answer = call;
  setTable('KEYS', keys);
  setTable('ARGV', args);
  lua.lua_rawgeti(L, lua.LUA_REGISTRYINDEX, scriptOf(source));
  const isFine = lua.lua_pcall(L, 0, 1, 0) === lua.LUA_OK;
  const reply = isFine ? replyAt(-1) : {err: lua.lua_tojsstring(L, -1)};
  lua.lua_settop(L, 0);
  // Redis 7 says which script it was.
  if (reply?.err !== undefined) throw new Error(`ERR ${reply.err} script: f00, on @user_script:1.`);
  return reply;
}

function prepare() {
  lualib.luaL_openlibs(L);
  // Lua 5.1, which Redis has, knows it under this name.
  lauxlib.luaL_dostring(L, luaText('unpack = table.unpack'));
  lua.lua_newtable(L);
  setFunction('call', () => {
    const [name, ...args] = Array.from({length: lua.lua_gettop(L)}, (_, at) => argumentAt(at + 1));
    pushReply(answer(name.toLowerCase(), args));
    return 1;
  });
  setFunction('error_reply', () => {
    lua.lua_newtable(L);
    lua.lua_pushvalue(L, 1);
    lua.lua_setfield(L, -2, luaText('err'));
    return 1;
  });
  setFunction('replicate_commands', () => 0);
  lua.lua_setglobal(L, luaText('redis'));
}

function scriptOf(source) {
  const known = compiled.get(source);
  if (known !== undefined) return known;
  const text = luaText(source);
  if (lauxlib.luaL_loadbuffer(L, text, text.length, luaText('@user_script')) !== lua.LUA_OK)
    throw new Error(lua.lua_tojsstring(L, -1));
  const script = lauxlib.luaL_ref(L, lua.LUA_REGISTRYINDEX);
  compiled.set(source, script);
  return script;
}

function setFunction(name, work) {
  lua.lua_pushcfunction(L, work);
  lua.lua_setfield(L, -2, luaText(name));
}

function setTable(name, values) {
  pushReply(values);
  lua.lua_setglobal(L, luaText(name));
}

/** Redis gets all arguments as text: numbers are doubles, so 5.0 is `5`. */
function argumentAt(at) {
  return lua.lua_type(L, at) === lua.LUA_TNUMBER
    ? String(lua.lua_tonumber(L, at))
    : lua.lua_tojsstring(L, at);
}

/** A reply of Redis in Lua: what is not there is false. */
function pushReply(reply) {
  if (reply === null) lua.lua_pushboolean(L, false);
  else if (typeof reply === 'number') lua.lua_pushinteger(L, reply);
  else if (typeof reply === 'string') lua.lua_pushstring(L, luaText(reply));
  else {
    lua.lua_createtable(L, reply.length, 0);
    for (const [index, one] of reply.entries()) {
      pushReply(one);
      lua.lua_rawseti(L, -2, index + 1);
    }
  }
}

/** A script's result as a reply of Redis: numbers lose their fraction, tables end before their first nil. */
function replyAt(at) {
  switch (lua.lua_type(L, at)) {
    case lua.LUA_TSTRING:
      return lua.lua_tojsstring(L, at);
    case lua.LUA_TNUMBER:
      return Math.trunc(lua.lua_tonumber(L, at));
    case lua.LUA_TBOOLEAN:
      return lua.lua_toboolean(L, at) ? 1 : null;
    case lua.LUA_TTABLE:
      return replyOfTable(lua.lua_absindex(L, at));
    default:
      return null;
  }
}

function replyOfTable(at) {
  lua.lua_getfield(L, at, luaText('err'));
  const err = lua.lua_isnil(L, -1) ? undefined : lua.lua_tojsstring(L, -1);
  lua.lua_pop(L, 1);
  if (err !== undefined) return {err};
  const replies = [];
  for (;;) {
    const type = lua.lua_rawgeti(L, at, replies.length + 1);
    if (type !== lua.LUA_TNIL) replies.push(replyAt(-1));
    lua.lua_pop(L, 1);
    if (type === lua.LUA_TNIL) return replies;
  }
}
