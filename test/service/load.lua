-- Load for one operation of the embedded service, with ever new values:
--   OPERATION=ip KEY=... wrk -t1 -c64 -d10s -s test/service/load.lua http://127.0.0.1:8787
local operation = os.getenv('OPERATION')
local key = os.getenv('KEY')
math.randomseed(7)

local domains = {'gmail.com', 'iana.org', 'mailinator.com', 'web.de', 'mail.example.co.uk'}
local bodies = {
  ip = function()
    return string.format('"ip":"%d.%d.%d.%d"', math.random(1, 223), math.random(0, 255), math.random(0, 255), math.random(1, 254))
  end,
  phone = function()
    return string.format('"phone":"+4477%08d"', math.random(0, 99999999))
  end,
  email = function()
    return string.format('"email":"user.%d+t@%s"', math.random(0, 999999), domains[math.random(1, #domains)])
  end,
}

request = function()
  local body = string.format('{"api_key":"%s",%s}', key, bodies[operation]())
  return wrk.format('POST', '/intelligence/' .. operation, {['Content-Type'] = 'application/json'}, body)
end
