# Prints more of a machine than machine.sh does, for those who look for what is wrong with it from afar: lines `NAME:LINE`. $1 is the directory of the files,
# empty for those of the machine; its network cards follow. Neither contents of memories (`ethtool -e`, `-d`) nor addresses of interfaces are asked for.
export LC_ALL=C
root=$1
shift
sys=$root/sys
cpu=$sys/devices/system/cpu
lines() { grep -s "" /dev/null "$@"; }
target() { for link; do to=$(readlink "$link") && printf '%s:%s\n' "$link" "${to##*/}"; done; }
# A card or program that hangs must not keep the rest back.
said() { name=$*; timeout 3 "$@" 2>&1 </dev/null | sed "s|^|$name:|"; }

lines "$root"/proc/version "$root"/proc/interrupts "$root"/proc/softirqs "$root"/proc/modules "$root"/proc/irq/default_smp_affinity \
    "$cpu"/cpu[0-9]*/topology/physical_package_id "$cpu"/cpu[0-9]*/topology/core_id "$cpu"/cpu[0-9]*/cpufreq/scaling_m??_freq \
    "$cpu"/cpu0/cache/index*/level "$cpu"/cpu0/cache/index*/size "$cpu"/cpu0/cache/index*/shared_cpu_list \
    "$sys"/devices/system/node/node[0-9]*/distance "$sys"/devices/system/node/node[0-9]*/hugepages/hugepages-*/*_hugepages \
    "$sys"/kernel/mm/transparent_hugepage/enabled "$sys"/module/vfio/parameters/enable_unsafe_noiommu_mode \
    "$root"/proc/sys/net/core/* "$root"/proc/sys/net/ipv4/conf/all/* "$root"/proc/sys/net/ipv6/conf/all/* "$root"/proc/sys/net/ipv4/ip_forward \
    "$root"/proc/sys/kernel/numa_balancing "$root"/proc/sys/kernel/nmi_watchdog "$root"/proc/sys/kernel/sched_rt_runtime_us \
    "$root"/proc/sys/kernel/timer_migration "$root"/proc/sys/kernel/perf_event_paranoid "$root"/proc/sys/kernel/unprivileged_bpf_disabled
for irq in "$root"/proc/irq/[0-9]*; do lines "$irq"/smp_affinity_list "$irq"/effective_affinity_list; done

# What lspci tells of network controllers, those without an interface among them.
for device in "$sys"/bus/pci/devices/*; do
    case $(cat "$device/class" 2>/dev/null) in 0x02*) ;; *) continue ;; esac
    lines "$device"/class "$device"/vendor "$device"/device "$device"/subsystem_vendor "$device"/subsystem_device "$device"/revision "$device"/numa_node \
        "$device"/current_link_speed "$device"/current_link_width "$device"/max_link_speed "$device"/max_link_width "$device"/reset_method \
        "$device"/sriov_numvfs "$device"/sriov_totalvfs "$device"/local_cpulist "$device"/enable "$device"/power/control
    target "$device"/driver "$device"/iommu_group "$device"/physfn
    printf '%s:%s\n' "$device/net" "$(ls "$device/net" 2>/dev/null | tr '\n' ' ')"
done
printf '%s:%s\n' "$sys/class/iommu" "$(ls "$sys/class/iommu" 2>/dev/null | tr '\n' ' ')"

for interface; do
    net=$sys/class/net/$interface
    lines "$net"/operstate "$net"/carrier "$net"/carrier_changes "$net"/duplex "$net"/dev_port "$net"/tx_queue_len "$net"/threaded \
        "$net"/gro_flush_timeout "$net"/napi_defer_hard_irqs "$net"/statistics/* "$net"/queues/*/rps_cpus "$net"/queues/*/xps_cpus
    driver=$(readlink "$net/device/driver")
    lines "$sys/module/${driver##*/}/version" "$sys/module/${driver##*/}"/parameters/*
    said ethtool "$interface"
    for what in -S -T -m -n --show-priv-flags --show-fec; do said ethtool "$what" "$interface"; done
    said devlink dev info "pci/$(basename "$(readlink -f "$net/device")")"
done

for program in ip tc devlink ssh; do said "$program" -V; done
for program in ethtool nft jool; do said "$program" --version; done
said pkg-config --modversion libdpdk
for service in irqbalance tuned NetworkManager systemd-network lldpd thermald dockerd; do
    said pgrep -x -c "$service"
done
exit 0
