/** IP addresses as lists have them. */
export const addresses = `
PostgreSQL's inet with its mask ▸ id,last_ip ⏎ 6× {n},192.0.2.{n}/32 ▸ ip=last_ip → 192.0.2.0 192.0.2.1 192.0.2.2 … 6 | 6×+host_mask
a network is no address ▸ ip ⏎ 192.0.2.1 ⏎ 192.0.2.0/24 ⏎ 2001:db8::1/128 ⏎ 192.0.2.7/32 ▸ ip=ip → 192.0.2.1 192.0.2.7 | 1×ip_range 1×ipv6_unsupported 1×+host_mask
a balancer's own addresses among clients' ▸ ip ⏎ 6× 192.0.2.{n} ⏎ 10.0.0.7 ⏎ 192.168.1.10 ⏎ 172.31.255.255 ⏎ 127.0.0.1 ⏎ 100.64.0.9 ⏎ 169.254.1.1 ⏎ 0.0.0.0 ⏎ 172.32.0.1 ▸ ip=ip → 192.0.2.0 192.0.2.1 192.0.2.2 … 7 | 7×ip_private
`;
