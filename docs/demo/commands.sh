#!/bin/sh
# Every command the testbed ran, in order.
set -eu
# the tester's namespace
ip netns add sb-22377-tester
ip netns exec sb-22377-tester ip link set lo up
ip netns add sb-22377-dut
ip netns exec sb-22377-dut ip link set lo up
# DUTs forward; no duplicate address detection, no reverse path filter
ip netns exec sb-22377-dut sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec sb-22377-dut sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec sb-22377-dut sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec sb-22377-dut sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/rp_filter'
ip netns exec sb-22377-dut sh -c 'echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad'
ip netns exec sb-22377-dut sh -c 'echo 0 > /proc/sys/net/ipv6/conf/default/router_solicitations'
ip netns exec sb-22377-tester sh -c 'echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6'
ip link add left netns sb-22377-tester type veth peer name left netns sb-22377-dut
ip netns exec sb-22377-tester ethtool -K left tx off rx off tso off gso off gro off
ip netns exec sb-22377-tester ip link set left mtu 1500 addrgenmode none
ip netns exec sb-22377-dut ethtool -K left tx off rx off tso off gso off gro off
ip netns exec sb-22377-dut ip link set left mtu 1500 addrgenmode none
ip link add right netns sb-22377-tester type veth peer name right netns sb-22377-dut
ip netns exec sb-22377-tester ethtool -K right tx off rx off tso off gso off gro off
ip netns exec sb-22377-tester ip link set right mtu 1500 addrgenmode none
ip netns exec sb-22377-dut ethtool -K right tx off rx off tso off gso off gro off
ip netns exec sb-22377-dut ip link set right mtu 1500 addrgenmode none
ip netns exec sb-22377-tester ip link set left arp off
ip netns exec sb-22377-tester ip link set left up
ip netns exec sb-22377-tester ip link set right arp off
ip netns exec sb-22377-tester ip link set right up
ip netns exec sb-22377-dut ip link set left address 02:73:62:00:00:01
ip netns exec sb-22377-dut sh -c 'echo 2 > /sys/class/net/left/queues/rx-0/rps_cpus'
ip netns exec sb-22377-dut ip link set left up
ip netns exec sb-22377-dut ip address add fe80::1/64 dev left nodad
ip netns exec sb-22377-dut ip link set right address 02:73:62:00:00:02
ip netns exec sb-22377-dut sh -c 'echo 2 > /sys/class/net/right/queues/rx-0/rps_cpus'
ip netns exec sb-22377-dut ip link set right up
ip netns exec sb-22377-dut ip address add fe80::3/64 dev right nodad
# the device: Linux kernel, IPv6 forwarding
ip netns exec sb-22377-dut mkdir -m 700 /tmp/sb-22377.4428468657239250907-dut
ip netns exec sb-22377-dut ip address add 2001:2::1/112 dev left nodad
ip netns exec sb-22377-dut ip route add 2001:2::/49 via 2001:2::2 dev left
ip netns exec sb-22377-dut ip address add 2001:2:0:8000::1/112 dev right nodad
ip netns exec sb-22377-dut ip route add 2001:2:0:8000::/49 via 2001:2:0:8000::2 dev right
cat > /tmp/sb-22377.4428468657239250907-dut/reset <<'END'
echo 0 > /proc/sys/net/ipv6/conf/all/forwarding
echo 1 > /proc/sys/net/ipv6/conf/all/forwarding
END
# a process in the namespace, by which its drop counters are read
taskset -c 1 setpriv --pdeathsig KILL ip netns exec sb-22377-dut sleep infinity > /tmp/sb-22377.4428468657239250907-dut/anchor.log 2>&1 &
rm -r /tmp/sb-22377.4428468657239250907-dut
ip netns pids sb-22377-dut | xargs -r kill || true
ip netns del sb-22377-dut
ip netns pids sb-22377-tester | xargs -r kill || true
ip netns del sb-22377-tester
# the tester's namespace
ip netns add sb-22377-tester
ip netns exec sb-22377-tester ip link set lo up
ip netns add sb-22377-dut
ip netns exec sb-22377-dut ip link set lo up
# DUTs forward; no duplicate address detection, no reverse path filter
ip netns exec sb-22377-dut sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec sb-22377-dut sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec sb-22377-dut sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec sb-22377-dut sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/rp_filter'
ip netns exec sb-22377-dut sh -c 'echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad'
ip netns exec sb-22377-dut sh -c 'echo 0 > /proc/sys/net/ipv6/conf/default/router_solicitations'
ip netns exec sb-22377-tester sh -c 'echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6'
ip link add left netns sb-22377-tester type veth peer name left netns sb-22377-dut
ip netns exec sb-22377-tester ethtool -K left tx off rx off tso off gso off gro off
ip netns exec sb-22377-tester ip link set left mtu 1500 addrgenmode none
ip netns exec sb-22377-dut ethtool -K left tx off rx off tso off gso off gro off
ip netns exec sb-22377-dut ip link set left mtu 1500 addrgenmode none
ip link add right netns sb-22377-tester type veth peer name right netns sb-22377-dut
ip netns exec sb-22377-tester ethtool -K right tx off rx off tso off gso off gro off
ip netns exec sb-22377-tester ip link set right mtu 1500 addrgenmode none
ip netns exec sb-22377-dut ethtool -K right tx off rx off tso off gso off gro off
ip netns exec sb-22377-dut ip link set right mtu 1500 addrgenmode none
ip netns exec sb-22377-tester ip link set left arp off
ip netns exec sb-22377-tester ip link set left up
ip netns exec sb-22377-tester ip link set right arp off
ip netns exec sb-22377-tester ip link set right up
ip netns exec sb-22377-dut ip link set left address 02:73:62:00:00:01
ip netns exec sb-22377-dut sh -c 'echo 2 > /sys/class/net/left/queues/rx-0/rps_cpus'
ip netns exec sb-22377-dut ip link set left up
ip netns exec sb-22377-dut ip address add fe80::1/64 dev left nodad
ip netns exec sb-22377-dut ip link set right address 02:73:62:00:00:02
ip netns exec sb-22377-dut sh -c 'echo 2 > /sys/class/net/right/queues/rx-0/rps_cpus'
ip netns exec sb-22377-dut ip link set right up
ip netns exec sb-22377-dut ip address add fe80::3/64 dev right nodad
# the device: TAYGA, SIIT
ip netns exec sb-22377-dut mkdir -m 700 /tmp/sb-22377.4428468657239250907-dut
ip netns exec sb-22377-dut ip address add 2001:2::1/64 dev left nodad
ip netns exec sb-22377-dut ip address add 198.19.0.1/24 dev right
ip netns exec sb-22377-dut ip address add 2001:2:0:8000::1/64 dev right nodad
cat > /tmp/sb-22377.4428468657239250907-dut/tayga.conf <<'END'
tun-device nat64
ipv4-addr 198.19.0.9
ipv6-addr 2001:2::9
map 198.18.0.1 2001:2::1
map 198.18.0.2 2001:2::2
map 198.19.0.1 2001:2:0:1::1
map 198.19.0.2 2001:2:0:1::2
data-dir /tmp/sb-22377.4428468657239250907-dut
END
ip netns exec sb-22377-dut tayga -c /tmp/sb-22377.4428468657239250907-dut/tayga.conf --mktun
ip netns exec sb-22377-dut ip link set nat64 up
ip netns exec sb-22377-dut ip route add 198.18.0.0/24 dev nat64
ip netns exec sb-22377-dut ip route add 2001:2:0:1::/64 dev nat64
taskset -c 1 setpriv --pdeathsig KILL ip netns exec sb-22377-dut tayga -c /tmp/sb-22377.4428468657239250907-dut/tayga.conf -n > /tmp/sb-22377.4428468657239250907-dut/daemon.log 2>&1 &
# a process in the namespace, by which its drop counters are read
taskset -c 1 setpriv --pdeathsig KILL ip netns exec sb-22377-dut sleep infinity > /tmp/sb-22377.4428468657239250907-dut/anchor.log 2>&1 &
rm -r /tmp/sb-22377.4428468657239250907-dut
ip netns pids sb-22377-dut | xargs -r kill || true
ip netns del sb-22377-dut
ip netns pids sb-22377-tester | xargs -r kill || true
ip netns del sb-22377-tester
# the tester's namespace
ip netns add sb-22377-tester
ip netns exec sb-22377-tester ip link set lo up
ip netns add sb-22377-dut
ip netns exec sb-22377-dut ip link set lo up
# DUTs forward; no duplicate address detection, no reverse path filter
ip netns exec sb-22377-dut sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec sb-22377-dut sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec sb-22377-dut sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec sb-22377-dut sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/rp_filter'
ip netns exec sb-22377-dut sh -c 'echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad'
ip netns exec sb-22377-dut sh -c 'echo 0 > /proc/sys/net/ipv6/conf/default/router_solicitations'
ip netns exec sb-22377-tester sh -c 'echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6'
ip link add left netns sb-22377-tester type veth peer name left netns sb-22377-dut
ip netns exec sb-22377-tester ethtool -K left tx off rx off tso off gso off gro off
ip netns exec sb-22377-tester ip link set left mtu 1500 addrgenmode none
ip netns exec sb-22377-dut ethtool -K left tx off rx off tso off gso off gro off
ip netns exec sb-22377-dut ip link set left mtu 1500 addrgenmode none
ip link add right netns sb-22377-tester type veth peer name right netns sb-22377-dut
ip netns exec sb-22377-tester ethtool -K right tx off rx off tso off gso off gro off
ip netns exec sb-22377-tester ip link set right mtu 1500 addrgenmode none
ip netns exec sb-22377-dut ethtool -K right tx off rx off tso off gso off gro off
ip netns exec sb-22377-dut ip link set right mtu 1500 addrgenmode none
ip netns exec sb-22377-tester ip link set left arp off
ip netns exec sb-22377-tester ip link set left up
ip netns exec sb-22377-tester ip link set right arp off
ip netns exec sb-22377-tester ip link set right up
ip netns exec sb-22377-dut ip link set left address 02:73:62:00:00:01
ip netns exec sb-22377-dut sh -c 'echo 2 > /sys/class/net/left/queues/rx-0/rps_cpus'
ip netns exec sb-22377-dut ip link set left up
ip netns exec sb-22377-dut ip address add fe80::1/64 dev left nodad
ip netns exec sb-22377-dut ip link set right address 02:73:62:00:00:02
ip netns exec sb-22377-dut sh -c 'echo 2 > /sys/class/net/right/queues/rx-0/rps_cpus'
ip netns exec sb-22377-dut ip link set right up
ip netns exec sb-22377-dut ip address add fe80::3/64 dev right nodad
# the device: TAYGA, SIIT
ip netns exec sb-22377-dut mkdir -m 700 /tmp/sb-22377.4428468657239250907-dut
ip netns exec sb-22377-dut ip address add 2001:2::1/64 dev left nodad
ip netns exec sb-22377-dut ip address add 198.19.0.1/24 dev right
ip netns exec sb-22377-dut ip address add 2001:2:0:8000::1/64 dev right nodad
cat > /tmp/sb-22377.4428468657239250907-dut/tayga.conf <<'END'
tun-device nat64
ipv4-addr 198.19.0.9
ipv6-addr 2001:2::9
map 198.18.0.1 2001:2::1
map 198.18.0.2 2001:2::2
map 198.19.0.1 2001:2:0:1::1
map 198.19.0.2 2001:2:0:1::2
data-dir /tmp/sb-22377.4428468657239250907-dut
END
ip netns exec sb-22377-dut tayga -c /tmp/sb-22377.4428468657239250907-dut/tayga.conf --mktun
ip netns exec sb-22377-dut ip link set nat64 up
ip netns exec sb-22377-dut ip route add 198.18.0.0/24 dev nat64
ip netns exec sb-22377-dut ip route add 2001:2:0:1::/64 dev nat64
taskset -c 1 setpriv --pdeathsig KILL ip netns exec sb-22377-dut tayga -c /tmp/sb-22377.4428468657239250907-dut/tayga.conf -n > /tmp/sb-22377.4428468657239250907-dut/daemon.log 2>&1 &
# a process in the namespace, by which its drop counters are read
taskset -c 1 setpriv --pdeathsig KILL ip netns exec sb-22377-dut sleep infinity > /tmp/sb-22377.4428468657239250907-dut/anchor.log 2>&1 &
ip netns exec sb-22377-dut sh -c 'for file in /proc/sys/net/ipv4/conf/*/accept_source_route; do echo 1 > $file; done'
rm -r /tmp/sb-22377.4428468657239250907-dut
ip netns pids sb-22377-dut | xargs -r kill || true
ip netns del sb-22377-dut
ip netns pids sb-22377-tester | xargs -r kill || true
ip netns del sb-22377-tester
# the tester's namespace
ip netns add sb-22377-tester
ip netns exec sb-22377-tester ip link set lo up
ip netns add sb-22377-dut
ip netns exec sb-22377-dut ip link set lo up
# DUTs forward; no duplicate address detection, no reverse path filter
ip netns exec sb-22377-dut sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec sb-22377-dut sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec sb-22377-dut sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec sb-22377-dut sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/rp_filter'
ip netns exec sb-22377-dut sh -c 'echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad'
ip netns exec sb-22377-dut sh -c 'echo 0 > /proc/sys/net/ipv6/conf/default/router_solicitations'
ip netns exec sb-22377-tester sh -c 'echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6'
ip link add left netns sb-22377-tester type veth peer name left netns sb-22377-dut
ip netns exec sb-22377-tester ethtool -K left tx off rx off tso off gso off gro off
ip netns exec sb-22377-tester ip link set left mtu 1500 addrgenmode none
ip netns exec sb-22377-dut ethtool -K left tx off rx off tso off gso off gro off
ip netns exec sb-22377-dut ip link set left mtu 1500 addrgenmode none
ip link add right netns sb-22377-tester type veth peer name right netns sb-22377-dut
ip netns exec sb-22377-tester ethtool -K right tx off rx off tso off gso off gro off
ip netns exec sb-22377-tester ip link set right mtu 1500 addrgenmode none
ip netns exec sb-22377-dut ethtool -K right tx off rx off tso off gso off gro off
ip netns exec sb-22377-dut ip link set right mtu 1500 addrgenmode none
ip netns exec sb-22377-tester ip link set left arp off
ip netns exec sb-22377-tester ip link set left up
ip netns exec sb-22377-tester ip link set right arp off
ip netns exec sb-22377-tester ip link set right up
ip netns exec sb-22377-dut ip link set left address 02:73:62:00:00:01
ip netns exec sb-22377-dut sh -c 'echo 2 > /sys/class/net/left/queues/rx-0/rps_cpus'
ip netns exec sb-22377-dut ip link set left up
ip netns exec sb-22377-dut ip address add fe80::1/64 dev left nodad
ip netns exec sb-22377-dut ip link set right address 02:73:62:00:00:02
ip netns exec sb-22377-dut sh -c 'echo 2 > /sys/class/net/right/queues/rx-0/rps_cpus'
ip netns exec sb-22377-dut ip link set right up
ip netns exec sb-22377-dut ip address add fe80::3/64 dev right nodad
# the device: TAYGA and nftables, NAT64
ip netns exec sb-22377-dut mkdir -m 700 /tmp/sb-22377.4428468657239250907-dut
ip netns exec sb-22377-dut ip address add 2001:2::1/112 dev left nodad
ip netns exec sb-22377-dut ip route add 2001:2::/64 via 2001:2::2 dev left
ip netns exec sb-22377-dut ip address add 198.18.0.1/30 dev right
ip netns exec sb-22377-dut ip address add 2001:2:0:8000::1/112 dev right nodad
ip netns exec sb-22377-dut ip route add 198.18.0.0/15 via 198.18.0.2 dev right
ip netns exec sb-22377-dut ip route add 2001:2:0:8000::/64 via 2001:2:0:8000::2 dev right
sh -c 'echo 2097152 > /proc/sys/net/netfilter/nf_conntrack_max'
sh -c 'echo 2097152 > /sys/module/nf_conntrack/parameters/hashsize'
cat > /tmp/sb-22377.4428468657239250907-dut/timeouts <<'END'
cd /proc/sys/net/netfilter
for timeout in udp_timeout udp_timeout_stream tcp_timeout_syn_sent tcp_timeout_syn_recv tcp_timeout_established icmp_timeout; do
    cat nf_conntrack_$timeout > /tmp/sb-22377.4428468657239250907-dut/nf_conntrack_$timeout
    echo 86400 > nf_conntrack_$timeout
done
END
cat > /tmp/sb-22377.4428468657239250907-dut/timeouts-before <<'END'
cd /proc/sys/net/netfilter
for before in /tmp/sb-22377.4428468657239250907-dut/nf_conntrack_*; do
    cat $before > ${before##*/}
done
END
cat > /tmp/sb-22377.4428468657239250907-dut/short-timers <<'END'
cd /proc/sys/net/netfilter
for timeout in udp_timeout udp_timeout_stream tcp_timeout_syn_sent tcp_timeout_syn_recv icmp_timeout; do
    echo 5 > nf_conntrack_$timeout
done
echo 10 > nf_conntrack_tcp_timeout_established
END
cat > /tmp/sb-22377.4428468657239250907-dut/nat.nft <<'END'
table ip sixbench {
    chain postrouting {
        type nat hook postrouting priority srcnat
        oifname "right" meta l4proto { tcp, udp } snat to 198.19.0.1:1024-65535
        oifname "right" meta l4proto icmp snat to 198.19.0.1
    }
}
END
cat > /tmp/sb-22377.4428468657239250907-dut/small-pool.nft <<'END'
flush chain ip sixbench postrouting
add rule ip sixbench postrouting oifname "right" meta l4proto { tcp, udp } snat to 198.19.0.1:1024-1027
END
cat > /tmp/sb-22377.4428468657239250907-dut/tayga.conf <<'END'
tun-device nat64
ipv4-addr 192.168.0.1
dynamic-pool 192.168.0.0/16
prefix 2001:2:0:6464::/96
END
ip netns exec sb-22377-dut sh /tmp/sb-22377.4428468657239250907-dut/timeouts
ip netns exec sb-22377-dut ip route add blackhole 198.19.0.1
ip netns exec sb-22377-dut nft -f /tmp/sb-22377.4428468657239250907-dut/nat.nft
ip netns exec sb-22377-dut tayga -c /tmp/sb-22377.4428468657239250907-dut/tayga.conf --mktun
ip netns exec sb-22377-dut ip link set nat64 up
ip netns exec sb-22377-dut ip route add 192.168.0.0/16 dev nat64
ip netns exec sb-22377-dut ip route add 2001:2:0:6464::/96 dev nat64
taskset -c 1 setpriv --pdeathsig KILL ip netns exec sb-22377-dut tayga -c /tmp/sb-22377.4428468657239250907-dut/tayga.conf -n > /tmp/sb-22377.4428468657239250907-dut/daemon.log 2>&1 &
# a process in the namespace, by which its drop counters are read
taskset -c 1 setpriv --pdeathsig KILL ip netns exec sb-22377-dut sleep infinity > /tmp/sb-22377.4428468657239250907-dut/anchor.log 2>&1 &
ip netns exec sb-22377-dut conntrack -F
ip netns exec sb-22377-dut conntrack -F
ip netns exec sb-22377-dut conntrack -F
ip netns exec sb-22377-dut conntrack -F
ip netns exec sb-22377-dut conntrack -F
ip netns exec sb-22377-dut conntrack -F
ip netns exec sb-22377-dut conntrack -F
ip netns exec sb-22377-dut conntrack -F
ip netns exec sb-22377-dut conntrack -F
ip netns exec sb-22377-dut conntrack -F
ip netns exec sb-22377-dut conntrack -F
ip netns exec sb-22377-dut conntrack -F
ip netns exec sb-22377-dut conntrack -F
ip netns exec sb-22377-dut conntrack -F
ip netns exec sb-22377-dut conntrack -F
ip netns exec sb-22377-dut conntrack -F
ip netns exec sb-22377-dut conntrack -F
ip netns exec sb-22377-dut conntrack -F
ip netns exec sb-22377-dut conntrack -F
ip netns exec sb-22377-dut conntrack -F
ip netns exec sb-22377-dut conntrack -F
rm -r /tmp/sb-22377.4428468657239250907-dut
sh -c 'echo 262144 > /sys/module/nf_conntrack/parameters/hashsize'
sh -c 'echo 262144 > /proc/sys/net/netfilter/nf_conntrack_max'
ip netns pids sb-22377-dut | xargs -r kill || true
ip netns del sb-22377-dut
ip netns pids sb-22377-tester | xargs -r kill || true
ip netns del sb-22377-tester
# the tester's namespace
ip netns add sb-22377-tester
ip netns exec sb-22377-tester ip link set lo up
ip netns add sb-22377-dut
ip netns exec sb-22377-dut ip link set lo up
# DUTs forward; no duplicate address detection, no reverse path filter
ip netns exec sb-22377-dut sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec sb-22377-dut sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec sb-22377-dut sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec sb-22377-dut sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/rp_filter'
ip netns exec sb-22377-dut sh -c 'echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad'
ip netns exec sb-22377-dut sh -c 'echo 0 > /proc/sys/net/ipv6/conf/default/router_solicitations'
ip netns exec sb-22377-tester sh -c 'echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6'
ip link add left netns sb-22377-tester type veth peer name left netns sb-22377-dut
ip netns exec sb-22377-tester ethtool -K left tx off rx off tso off gso off gro off
ip netns exec sb-22377-tester ip link set left mtu 1500 addrgenmode none
ip netns exec sb-22377-dut ethtool -K left tx off rx off tso off gso off gro off
ip netns exec sb-22377-dut ip link set left mtu 1500 addrgenmode none
ip link add right netns sb-22377-tester type veth peer name right netns sb-22377-dut
ip netns exec sb-22377-tester ethtool -K right tx off rx off tso off gso off gro off
ip netns exec sb-22377-tester ip link set right mtu 1500 addrgenmode none
ip netns exec sb-22377-dut ethtool -K right tx off rx off tso off gso off gro off
ip netns exec sb-22377-dut ip link set right mtu 1500 addrgenmode none
ip netns exec sb-22377-tester ip link set left arp off
ip netns exec sb-22377-tester ip link set left up
ip netns exec sb-22377-tester ip link set right arp off
ip netns exec sb-22377-tester ip link set right up
ip netns exec sb-22377-dut ip link set left address 02:73:62:00:00:01
ip netns exec sb-22377-dut sh -c 'echo 2 > /sys/class/net/left/queues/rx-0/rps_cpus'
ip netns exec sb-22377-dut ip link set left up
ip netns exec sb-22377-dut ip address add fe80::1/64 dev left nodad
ip netns exec sb-22377-dut ip link set right address 02:73:62:00:00:02
ip netns exec sb-22377-dut sh -c 'echo 2 > /sys/class/net/right/queues/rx-0/rps_cpus'
ip netns exec sb-22377-dut ip link set right up
ip netns exec sb-22377-dut ip address add fe80::3/64 dev right nodad
# the device: Linux kernel, IPv6 forwarding in the lab
ip netns exec sb-22377-dut mkdir -m 700 /tmp/sb-22377.4428468657239250907-dut
# the links belong to the device, so this machine's kernel must not use them
ip netns exec sb-22377-dut sh -c 'echo 0 > /proc/sys/net/ipv4/ip_forward'
ip netns exec sb-22377-dut sh -c 'echo 1 > /proc/sys/net/ipv6/conf/left/disable_ipv6'
ip netns exec sb-22377-dut ip address flush dev left
ip netns exec sb-22377-dut ip link set left promisc on
ip netns exec sb-22377-dut sh -c 'echo 1 > /proc/sys/net/ipv6/conf/right/disable_ipv6'
ip netns exec sb-22377-dut ip address flush dev right
ip netns exec sb-22377-dut ip link set right promisc on
# a virtual machine (Linux 6.1.176) behind left and right
mkdir -p /tmp/sb-22377.4428468657239250907-dut/machine/jobs /tmp/sb-22377.4428468657239250907-dut/machine/out /tmp/sb-22377.4428468657239250907-dut/machine/uml
mkfifo /tmp/sb-22377.4428468657239250907-dut/machine/console
cat > /tmp/sb-22377.4428468657239250907-dut/machine/inside <<'END'
# Runs a command in the virtual machine whose directory this file lies in: sh DIRECTORY/inside WORD...
# The machine's root is the one of its host. So the words go there in a file, which the first process of the machine runs when it reads the
# file's name from its console; what the command prints and its status come back in files.
here=${0%/*}
# No name comes twice: a process with the same number may have been killed, and what it asked for be answered only now.
job=$(mktemp "$here/jobs/$$-XXXXXXXX") || exit 125
job=${job##*/}
rm -f "$here/out/$job".*
trap 'rm -f "$here/jobs/$job" "$here/out/$job".*' EXIT
trap 'exit 129' HUP INT TERM

# Whether the process is there, and not merely not yet collected by its parent.
is_alive() {
    { read -r state <"/proc/$1/stat"; } 2>/dev/null || return 1
    case $state in
    *') Z '*) return 1 ;;
    esac
}
check_alive() {
    [ ! -s "$here/pid" ] || { read -r machine <"$here/pid" && is_alive "$machine"; } && return
    echo "the virtual machine has ended; its console says:" >&2
    { grep -m 1 'Kernel panic' "$here/console.log" || tail -n 4 "$here/console.log"; } >&2
    exit 125
}
for word; do
    case $word in
    *\'*) word=$(printf '%s\n' "$word" | sed "s/'/'\\\\''/g") ;;
    esac
    printf "set -- \"\$@\" '%s'\n" "$word"
done >"$here/jobs/$job"
echo 'exec "$@"' >>"$here/jobs/$job"

until [ -s "$here/out/ready" ]; do
    check_alive
    sleep 0.01
done
# Opened for reading, too: where nobody reads any more, opening it for writing alone would wait for ever.
echo "$job" 1<>"$here/console"
# While it is flooded with frames, User-Mode Linux may lose the signal that its console has input; the next input wakes it. So an empty
# line follows about every second.
looks=0
until [ -s "$here/out/$job.status" ]; do
    check_alive
    looks=$((looks + 1))
    [ $((looks % 100)) -ne 0 ] || echo 1<>"$here/console"
    sleep 0.01
done
cat "$here/out/$job.out"
cat "$here/out/$job.err" >&2
read -r status <"$here/out/$job.status"
exit "$status"
END
cat > /tmp/sb-22377.4428468657239250907-dut/machine/init <<'END'
#!/bin/sh
set -e
here=${0%/*}
export PATH=/var/cache/sixbench/lab/linux-6.1.176-1-jool-4.1.9-1-606afe1b7f22749d/bin:/usr/sbin:/usr/bin:/sbin:/bin
export LC_ALL=C HOME=/run TMPDIR=/run
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /run
# The only place of its host that it may write to.
mount -t hostfs -o "$here/out" none "$here/out"
echo /var/cache/sixbench/lab/linux-6.1.176-1-jool-4.1.9-1-606afe1b7f22749d/bin/modprobe > /proc/sys/kernel/modprobe
modprobe -a ipv6 
echo 1 > /proc/sys/net/ipv4/ip_forward
echo 1 > /proc/sys/net/ipv6/conf/all/forwarding
echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter
echo 0 > /proc/sys/net/ipv4/conf/default/rp_filter
echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad
echo 0 > /proc/sys/net/ipv6/conf/default/router_solicitations
ip -batch - <<'LINKS'
link set lo up
link set vec0 name left mtu 1500 addrgenmode none
link set left up
address add fe80::1/64 dev left nodad
link set vec1 name right mtu 1500 addrgenmode none
link set right up
address add fe80::3/64 dev right nodad
LINKS
ethtool -K left tx-scatter-gather-fraglist off
ethtool -K right tx-scatter-gather-fraglist off
echo ready > "$here/out/ready"
set +e
while read -r job; do
    [ -n "$job" ] || continue
    {
        (. "$here/jobs/$job") > "$here/out/$job.out" 2> "$here/out/$job.err" < /dev/null
        echo $? > "$here/out/$job.status"
    } &
done
END
cat > /tmp/sb-22377.4428468657239250907-dut/machine/boot <<'END'
echo $$ > /tmp/sb-22377.4428468657239250907-dut/machine/pid
exec unshare --pid --fork --kill-child=KILL env LD_PRELOAD=/var/cache/sixbench/lab/linux-6.1.176-1-jool-4.1.9-1-606afe1b7f22749d/shim.so linux.uml mem=1024M uml_dir=/tmp/sb-22377.4428468657239250907-dut/machine/uml rootfstype=hostfs ro quiet con=null con0=fd:0,fd:1 con1=null initcall_blacklist=raid6_select_algo init=/tmp/sb-22377.4428468657239250907-dut/machine/init vec0:transport=raw,depth=128,ifname=left,mac=02:73:62:01:00:01,mtu=1500 vec1:transport=raw,depth=128,ifname=right,mac=02:73:62:01:00:02,mtu=1500 <> /tmp/sb-22377.4428468657239250907-dut/machine/console
END
chmod 755 /tmp/sb-22377.4428468657239250907-dut/machine/init
taskset -c 1 setpriv --pdeathsig KILL ip netns exec sb-22377-dut sh /tmp/sb-22377.4428468657239250907-dut/machine/boot > /tmp/sb-22377.4428468657239250907-dut/machine/console.log 2>&1 &
sh /tmp/sb-22377.4428468657239250907-dut/machine/inside true
sh /tmp/sb-22377.4428468657239250907-dut/machine/inside ip address add 2001:2::1/112 dev left nodad
sh /tmp/sb-22377.4428468657239250907-dut/machine/inside ip route add 2001:2::/49 via 2001:2::2 dev left
sh /tmp/sb-22377.4428468657239250907-dut/machine/inside ip address add 2001:2:0:8000::1/112 dev right nodad
sh /tmp/sb-22377.4428468657239250907-dut/machine/inside ip route add 2001:2:0:8000::/49 via 2001:2:0:8000::2 dev right
cat > /tmp/sb-22377.4428468657239250907-dut/reset <<'END'
echo 0 > /proc/sys/net/ipv6/conf/all/forwarding
echo 1 > /proc/sys/net/ipv6/conf/all/forwarding
END
# a process in the namespace, by which its drop counters are read
taskset -c 1 setpriv --pdeathsig KILL ip netns exec sb-22377-dut sleep infinity > /tmp/sb-22377.4428468657239250907-dut/anchor.log 2>&1 &
kill -KILL $(cat /tmp/sb-22377.4428468657239250907-dut/machine/pid)
rm -r /tmp/sb-22377.4428468657239250907-dut
ip netns pids sb-22377-dut | xargs -r kill || true
ip netns del sb-22377-dut
ip netns pids sb-22377-tester | xargs -r kill || true
ip netns del sb-22377-tester
# the tester's namespace
ip netns add sb-22377-tester
ip netns exec sb-22377-tester ip link set lo up
ip netns add sb-22377-dut
ip netns exec sb-22377-dut ip link set lo up
# DUTs forward; no duplicate address detection, no reverse path filter
ip netns exec sb-22377-dut sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
ip netns exec sb-22377-dut sh -c 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding'
ip netns exec sb-22377-dut sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter'
ip netns exec sb-22377-dut sh -c 'echo 0 > /proc/sys/net/ipv4/conf/default/rp_filter'
ip netns exec sb-22377-dut sh -c 'echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad'
ip netns exec sb-22377-dut sh -c 'echo 0 > /proc/sys/net/ipv6/conf/default/router_solicitations'
ip netns exec sb-22377-tester sh -c 'echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6'
ip link add left netns sb-22377-tester type veth peer name left netns sb-22377-dut
ip netns exec sb-22377-tester ethtool -K left tx off rx off tso off gso off gro off
ip netns exec sb-22377-tester ip link set left mtu 1500 addrgenmode none
ip netns exec sb-22377-dut ethtool -K left tx off rx off tso off gso off gro off
ip netns exec sb-22377-dut ip link set left mtu 1500 addrgenmode none
ip link add right netns sb-22377-tester type veth peer name right netns sb-22377-dut
ip netns exec sb-22377-tester ethtool -K right tx off rx off tso off gso off gro off
ip netns exec sb-22377-tester ip link set right mtu 1500 addrgenmode none
ip netns exec sb-22377-dut ethtool -K right tx off rx off tso off gso off gro off
ip netns exec sb-22377-dut ip link set right mtu 1500 addrgenmode none
ip netns exec sb-22377-tester ip link set left arp off
ip netns exec sb-22377-tester ip link set left up
ip netns exec sb-22377-tester ip link set right arp off
ip netns exec sb-22377-tester ip link set right up
ip netns exec sb-22377-dut ip link set left address 02:73:62:00:00:01
ip netns exec sb-22377-dut sh -c 'echo 2 > /sys/class/net/left/queues/rx-0/rps_cpus'
ip netns exec sb-22377-dut ip link set left up
ip netns exec sb-22377-dut ip address add fe80::1/64 dev left nodad
ip netns exec sb-22377-dut ip link set right address 02:73:62:00:00:02
ip netns exec sb-22377-dut sh -c 'echo 2 > /sys/class/net/right/queues/rx-0/rps_cpus'
ip netns exec sb-22377-dut ip link set right up
ip netns exec sb-22377-dut ip address add fe80::3/64 dev right nodad
# the device: Jool, SIIT
ip netns exec sb-22377-dut mkdir -m 700 /tmp/sb-22377.4428468657239250907-dut
# the links belong to the device, so this machine's kernel must not use them
ip netns exec sb-22377-dut sh -c 'echo 0 > /proc/sys/net/ipv4/ip_forward'
ip netns exec sb-22377-dut sh -c 'echo 1 > /proc/sys/net/ipv6/conf/left/disable_ipv6'
ip netns exec sb-22377-dut ip address flush dev left
ip netns exec sb-22377-dut ip link set left promisc on
ip netns exec sb-22377-dut sh -c 'echo 1 > /proc/sys/net/ipv6/conf/right/disable_ipv6'
ip netns exec sb-22377-dut ip address flush dev right
ip netns exec sb-22377-dut ip link set right promisc on
# a virtual machine (Linux 6.1.176) behind left and right
mkdir -p /tmp/sb-22377.4428468657239250907-dut/machine/jobs /tmp/sb-22377.4428468657239250907-dut/machine/out /tmp/sb-22377.4428468657239250907-dut/machine/uml
mkfifo /tmp/sb-22377.4428468657239250907-dut/machine/console
cat > /tmp/sb-22377.4428468657239250907-dut/machine/inside <<'END'
# Runs a command in the virtual machine whose directory this file lies in: sh DIRECTORY/inside WORD...
# The machine's root is the one of its host. So the words go there in a file, which the first process of the machine runs when it reads the
# file's name from its console; what the command prints and its status come back in files.
here=${0%/*}
# No name comes twice: a process with the same number may have been killed, and what it asked for be answered only now.
job=$(mktemp "$here/jobs/$$-XXXXXXXX") || exit 125
job=${job##*/}
rm -f "$here/out/$job".*
trap 'rm -f "$here/jobs/$job" "$here/out/$job".*' EXIT
trap 'exit 129' HUP INT TERM

# Whether the process is there, and not merely not yet collected by its parent.
is_alive() {
    { read -r state <"/proc/$1/stat"; } 2>/dev/null || return 1
    case $state in
    *') Z '*) return 1 ;;
    esac
}
check_alive() {
    [ ! -s "$here/pid" ] || { read -r machine <"$here/pid" && is_alive "$machine"; } && return
    echo "the virtual machine has ended; its console says:" >&2
    { grep -m 1 'Kernel panic' "$here/console.log" || tail -n 4 "$here/console.log"; } >&2
    exit 125
}
for word; do
    case $word in
    *\'*) word=$(printf '%s\n' "$word" | sed "s/'/'\\\\''/g") ;;
    esac
    printf "set -- \"\$@\" '%s'\n" "$word"
done >"$here/jobs/$job"
echo 'exec "$@"' >>"$here/jobs/$job"

until [ -s "$here/out/ready" ]; do
    check_alive
    sleep 0.01
done
# Opened for reading, too: where nobody reads any more, opening it for writing alone would wait for ever.
echo "$job" 1<>"$here/console"
# While it is flooded with frames, User-Mode Linux may lose the signal that its console has input; the next input wakes it. So an empty
# line follows about every second.
looks=0
until [ -s "$here/out/$job.status" ]; do
    check_alive
    looks=$((looks + 1))
    [ $((looks % 100)) -ne 0 ] || echo 1<>"$here/console"
    sleep 0.01
done
cat "$here/out/$job.out"
cat "$here/out/$job.err" >&2
read -r status <"$here/out/$job.status"
exit "$status"
END
cat > /tmp/sb-22377.4428468657239250907-dut/machine/init <<'END'
#!/bin/sh
set -e
here=${0%/*}
export PATH=/var/cache/sixbench/lab/linux-6.1.176-1-jool-4.1.9-1-606afe1b7f22749d/bin:/usr/sbin:/usr/bin:/sbin:/bin
export LC_ALL=C HOME=/run TMPDIR=/run
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /run
# The only place of its host that it may write to.
mount -t hostfs -o "$here/out" none "$here/out"
echo /var/cache/sixbench/lab/linux-6.1.176-1-jool-4.1.9-1-606afe1b7f22749d/bin/modprobe > /proc/sys/kernel/modprobe
modprobe -a ipv6 jool_siit
echo 1 > /proc/sys/net/ipv4/ip_forward
echo 1 > /proc/sys/net/ipv6/conf/all/forwarding
echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter
echo 0 > /proc/sys/net/ipv4/conf/default/rp_filter
echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad
echo 0 > /proc/sys/net/ipv6/conf/default/router_solicitations
ip -batch - <<'LINKS'
link set lo up
link set vec0 name left mtu 1500 addrgenmode none
link set left up
address add fe80::1/64 dev left nodad
link set vec1 name right mtu 1500 addrgenmode none
link set right up
address add fe80::3/64 dev right nodad
LINKS
ethtool -K left tx-scatter-gather-fraglist off
ethtool -K right tx-scatter-gather-fraglist off
echo ready > "$here/out/ready"
set +e
while read -r job; do
    [ -n "$job" ] || continue
    {
        (. "$here/jobs/$job") > "$here/out/$job.out" 2> "$here/out/$job.err" < /dev/null
        echo $? > "$here/out/$job.status"
    } &
done
END
cat > /tmp/sb-22377.4428468657239250907-dut/machine/boot <<'END'
echo $$ > /tmp/sb-22377.4428468657239250907-dut/machine/pid
exec unshare --pid --fork --kill-child=KILL env LD_PRELOAD=/var/cache/sixbench/lab/linux-6.1.176-1-jool-4.1.9-1-606afe1b7f22749d/shim.so linux.uml mem=1024M uml_dir=/tmp/sb-22377.4428468657239250907-dut/machine/uml rootfstype=hostfs ro quiet con=null con0=fd:0,fd:1 con1=null initcall_blacklist=raid6_select_algo init=/tmp/sb-22377.4428468657239250907-dut/machine/init vec0:transport=raw,depth=128,ifname=left,mac=02:73:62:01:00:01,mtu=1500 vec1:transport=raw,depth=128,ifname=right,mac=02:73:62:01:00:02,mtu=1500 <> /tmp/sb-22377.4428468657239250907-dut/machine/console
END
chmod 755 /tmp/sb-22377.4428468657239250907-dut/machine/init
taskset -c 1 setpriv --pdeathsig KILL ip netns exec sb-22377-dut sh /tmp/sb-22377.4428468657239250907-dut/machine/boot > /tmp/sb-22377.4428468657239250907-dut/machine/console.log 2>&1 &
sh /tmp/sb-22377.4428468657239250907-dut/machine/inside true
sh /tmp/sb-22377.4428468657239250907-dut/machine/inside ip address add 2001:2::1/64 dev left nodad
sh /tmp/sb-22377.4428468657239250907-dut/machine/inside ip address add 198.19.0.1/24 dev right
sh /tmp/sb-22377.4428468657239250907-dut/machine/inside ip address add 2001:2:0:8000::1/64 dev right nodad
cat > /tmp/sb-22377.4428468657239250907-dut/instance <<'END'
modprobe jool_siit && jool_siit instance add siit --netfilter
END
sh /tmp/sb-22377.4428468657239250907-dut/machine/inside sh /tmp/sb-22377.4428468657239250907-dut/instance
sh /tmp/sb-22377.4428468657239250907-dut/machine/inside jool_siit -i siit eamt add 2001:2::/120 198.18.0.0/24
sh /tmp/sb-22377.4428468657239250907-dut/machine/inside jool_siit -i siit eamt add 2001:2:0:1::/120 198.19.0.0/24
# a process in the namespace, by which its drop counters are read
taskset -c 1 setpriv --pdeathsig KILL ip netns exec sb-22377-dut sleep infinity > /tmp/sb-22377.4428468657239250907-dut/anchor.log 2>&1 &
kill -KILL $(cat /tmp/sb-22377.4428468657239250907-dut/machine/pid)
rm -r /tmp/sb-22377.4428468657239250907-dut
ip netns pids sb-22377-dut | xargs -r kill || true
ip netns del sb-22377-dut
ip netns pids sb-22377-tester | xargs -r kill || true
ip netns del sb-22377-tester
