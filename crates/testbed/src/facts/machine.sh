# Prints what the files of a machine say of it, and what ethtool says of its interfaces: lines `NAME:LINE`. $1 is the directory of the files, empty
# for those of the machine; the interfaces follow. What this kernel does not tell is left out.
export LC_ALL=C
root=$1
shift
cpu=$root/sys/devices/system/cpu
lines() { grep -s "" /dev/null "$@"; }
target() { to=$(readlink "$1") && printf '%s:%s\n' "$1" "${to##*/}"; }

lines "$root"/proc/sys/kernel/hostname "$root"/proc/sys/kernel/osrelease "$root"/proc/cmdline "$root"/etc/os-release "$root"/proc/meminfo \
    "$root"/proc/sys/net/core/netdev_max_backlog "$root"/proc/sys/net/core/netdev_budget "$root"/proc/sys/net/core/dev_weight \
    "$root"/proc/sys/net/core/rmem_max "$root"/proc/sys/net/core/rps_sock_flow_entries \
    "$root"/sys/devices/system/clocksource/clocksource0/current_clocksource \
    "$root"/sys/devices/system/clocksource/clocksource0/available_clocksource "$root"/sys/hypervisor/type \
    "$root"/sys/class/dmi/id/sys_vendor "$root"/sys/class/dmi/id/product_name \
    "$cpu"/online "$cpu"/isolated "$cpu"/nohz_full "$cpu"/smt/control "$cpu"/vulnerabilities/* \
    "$cpu"/intel_pstate/no_turbo "$cpu"/cpufreq/boost "$cpu"/cpuidle/current_driver "$cpu"/cpuidle/current_governor_ro \
    "$cpu"/cpu[0-9]*/cpufreq/scaling_driver "$cpu"/cpu[0-9]*/cpufreq/scaling_governor "$cpu"/cpu[0-9]*/topology/thread_siblings_list \
    "$cpu"/cpu[0-9]*/cpuidle/state*/name "$cpu"/cpu[0-9]*/cpuidle/state*/latency "$cpu"/cpu[0-9]*/cpuidle/state*/disable \
    "$root"/sys/devices/system/node/node[0-9]*/cpulist
# The first processor stands for all.
sed -n "/^\$/q;s|^|$root/proc/cpuinfo:|p" "$root"/proc/cpuinfo 2>/dev/null

for interface; do
    net=$root/sys/class/net/$interface
    lines "$net"/mtu "$net"/speed "$net"/device/vendor "$net"/device/device "$net"/device/numa_node
    target "$net"/device/driver
    # The interrupts of a virtio device are those of the device on the bus that it is on.
    irqs=$net/device/msi_irqs
    [ -d "$irqs" ] || [ -e "$net"/device/irq ] || irqs=$net/device/../msi_irqs
    [ -n "$(ls "$irqs" 2>/dev/null)" ] && printf '%s:%s\n' "$net/irq_device" "$(readlink -f "${irqs%/msi_irqs}")"
    for irq in $(ls "$irqs" 2>/dev/null | sort -n); do
        cores=$(cat "$root/proc/irq/$irq/smp_affinity_list" 2>/dev/null) && printf '%s:%s\n' "$net/interrupts" "$cores" "$net/irq/$irq" "$cores"
    done
    for what in "-k $interface" "-g $interface" "-a $interface" "-l $interface" "-c $interface" "-x $interface" "-i $interface" "--show-eee $interface" \
        "-n $interface rx-flow-hash udp4" "-n $interface rx-flow-hash udp6"; do
        ethtool $what 2>/dev/null | sed "s|^|ethtool $what:|"
    done
done
exit 0
