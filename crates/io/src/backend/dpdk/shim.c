// The part of the backend `dpdk` that must be compiled against DPDK: what is inline there or depends on the layout of its structures, a batch at a
// time. It is a shared object of its own, which sixbench opens at run time, so that sixbench runs where DPDK is not installed. It decides nothing:
// checks, advice and the order of calls are in Rust. `shim.rs` declares the same structures; a change of any of them is a new SHIM_ABI.
#define _GNU_SOURCE
#include <rte_alarm.h>
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_log.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>
#include <rte_mempool.h>
#include <rte_version.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SHIM_ABI 1
#define BATCH 64
#define LOG_OCTETS 2048
// Buffers that each thread keeps for itself, so that it seldom takes turns with others.
#define POOL_CACHE 128
// Threads that may keep some: two senders, two receivers, and the one that opened the port.
#define POOL_THREADS 5
// A cache holds up to one and a half times its size.
#define KEPT_BY_THREADS (POOL_THREADS * (POOL_CACHE + POOL_CACHE / 2))
// Octets for one frame outside of the schedule, behind those of the scheduled frame in the same buffer.
#define ANSWER_OCTETS 256

// What a port is and can do.
struct shim_description {
    char driver[64];
    uint8_t mac[8];
    // The NUMA node, -1 where it is not known.
    int32_t node;
    uint32_t most_rx_queues;
    uint32_t most_tx_queues;
    // Octets of the longest frame, without FCS.
    uint32_t most_octets;
    // 1 if frames can be spread over several queues by their addresses and ports.
    uint32_t can_spread;
};

// How a port is wanted, and in `rx_ring` and `tx_ring` how it then is.
struct shim_settings {
    uint32_t queues;
    // Octets of the longest frame to be sent and to be received, without FCS, and of the buffers for those that are received.
    uint32_t longest_sent;
    uint32_t longest_received;
    uint32_t receive_room;
    uint32_t rx_ring;
    uint32_t tx_ring;
    // 1 if also frames for other hardware addresses are wanted.
    uint32_t is_promiscuous;
};

// Frames on their way between a caller and a queue.
struct shim_batch {
    struct rte_mbuf *buffers[BATCH];
    uint8_t *data[BATCH];
    uint32_t octets[BATCH];
    uint32_t slots[BATCH];
};

struct shim_queue {
    struct rte_mempool *rx_pool;
    struct rte_mempool *tx_pool;
};

struct shim_port {
    uint16_t id;
    uint16_t queues;
    uint16_t frame_room;
    // Flow control as it was, if it was turned off.
    uint16_t has_stopped_pausing;
    struct rte_eth_fc_conf flow_control;
    struct shim_queue queue[];
};

static int slot_offset = -1;

// ---- messages of DPDK: kept for errors, never printed

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static char log_text[LOG_OCTETS];
static size_t log_used;

static ssize_t keep_log(void *unused, const char *text, size_t octets) {
    (void)unused;
    // Warnings are of no use in an error: drivers warn of what is as it should be.
    if (rte_log_cur_msg_loglevel() > (int)RTE_LOG_ERR) return (ssize_t)octets;
    pthread_mutex_lock(&log_lock);
    size_t kept = octets < LOG_OCTETS ? octets : LOG_OCTETS;
    if (kept > LOG_OCTETS - log_used) {
        size_t gone = kept - (LOG_OCTETS - log_used);
        memmove(log_text, log_text + gone, log_used - gone);
        log_used -= gone;
    }
    memcpy(log_text + log_used, text + octets - kept, kept);
    log_used += kept;
    pthread_mutex_unlock(&log_lock);
    return (ssize_t)octets;
}

// Copies the errors logged since the last call, ended by a zero.
static void shim_take_log(char *text, size_t octets) {
    pthread_mutex_lock(&log_lock);
    size_t copied = log_used < octets ? log_used : octets - 1;
    memcpy(text, log_text + log_used - copied, copied);
    text[copied] = 0;
    log_used = 0;
    pthread_mutex_unlock(&log_lock);
}

// ---- the life of the environment and of a port; each returns 0, or an error of errno, negative

static int shim_start(int argc, char **argv) {
    cookie_io_functions_t functions = {.write = keep_log};
    FILE *stream = fopencookie(NULL, "w", functions);
    if (stream) {
        setvbuf(stream, NULL, _IONBF, 0);
        rte_openlog_stream(stream);
    }
    int rc = rte_eal_init(argc, argv) < 0 ? (rte_errno ? -rte_errno : -EIO) : 0;
    // The directory for files that other processes of DPDK may read, of which there are none.
    if (rte_eal_get_runtime_dir()) rmdir(rte_eal_get_runtime_dir());
    if (rc) return rc;
    const struct rte_mbuf_dynfield field = {.name = "sixbench_slot", .size = sizeof(uint32_t), .align = __alignof__(uint32_t)};
    slot_offset = rte_mbuf_dynfield_register(&field);
    return slot_offset < 0 ? -rte_errno : 0;
}

static const char *shim_version(void) { return rte_version(); }

// Finds the first port of the device with these arguments.
static int find_port(const char *devargs, uint16_t *port) {
    struct rte_dev_iterator iterator;
    RTE_ETH_FOREACH_MATCHING_DEV(*port, devargs, &iterator) {
        rte_eth_iterator_cleanup(&iterator);
        return 0;
    }
    return -ENODEV;
}

// Adds a device and finds its port. One that is there already is in use, which DPDK itself does not call an error.
static int shim_probe(const char *devargs, uint16_t *port) {
    if (find_port(devargs, port) == 0) return -EEXIST;
    int rc = rte_dev_probe(devargs);
    if (rc) return rc < 0 ? rc : -rc;
    return find_port(devargs, port);
}

struct closing {
    uint16_t port;
    sem_t is_closed;
};

static void stop_and_close(uint16_t port) {
    rte_eth_dev_stop(port);
    rte_eth_dev_close(port);
}

static void close_and_tell(void *closing) {
    struct closing *it = closing;
    stop_and_close(it->port);
    sem_post(&it->is_closed);
}

// Closes a port on DPDK's interrupt thread, on which the driver net_memif notices that its peer is gone. It then frees the rings without a lock:
// closed on another thread at that moment, the same memory is freed twice, and the process ends by a signal. Other drivers are not closed here: some
// of them wait for messages that only this thread receives.
static void close_on_interrupt_thread(uint16_t port) {
    struct closing closing = {.port = port};
    sem_init(&closing.is_closed, 0, 0);
    if (rte_eal_alarm_set(1, close_and_tell, &closing)) {
        stop_and_close(port);
    } else {
        while (sem_wait(&closing.is_closed)) continue;
    }
    sem_destroy(&closing.is_closed);
}

static int shim_remove(uint16_t port) {
    struct rte_eth_dev_info info;
    int rc = rte_eth_dev_info_get(port, &info);
    if (rc) return rc;
    if (info.driver_name && strcmp(info.driver_name, "net_memif") == 0) close_on_interrupt_thread(port);
    else stop_and_close(port);
    return rte_dev_remove(info.device);
}

static const uint64_t SPREAD = RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_FRAG_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_IPV6 |
                               RTE_ETH_RSS_FRAG_IPV6 | RTE_ETH_RSS_NONFRAG_IPV6_UDP;

// A device that limits its MTU says by how much its frames are longer; otherwise that is a header and the FCS, which is not counted here.
static uint32_t most_octets(const struct rte_eth_dev_info *info) {
    uint32_t most_mtu = info->max_mtu ? info->max_mtu : UINT16_MAX;
    uint32_t around = RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN;
    if (most_mtu != UINT16_MAX && info->max_rx_pktlen > most_mtu) around = info->max_rx_pktlen - most_mtu;
    if (info->max_rx_pktlen > around && info->max_rx_pktlen - around < most_mtu) most_mtu = info->max_rx_pktlen - around;
    return most_mtu + RTE_ETHER_HDR_LEN;
}

static int shim_describe(uint16_t port, struct shim_description *out) {
    struct rte_eth_dev_info info;
    struct rte_ether_addr mac;
    int rc = rte_eth_dev_info_get(port, &info);
    if (rc == 0) rc = rte_eth_macaddr_get(port, &mac);
    if (rc) return rc;
    memset(out, 0, sizeof *out);
    snprintf(out->driver, sizeof out->driver, "%s", info.driver_name ? info.driver_name : "");
    memcpy(out->mac, mac.addr_bytes, sizeof mac.addr_bytes);
    out->node = rte_eth_dev_socket_id(port);
    out->most_rx_queues = info.max_rx_queues;
    out->most_tx_queues = info.max_tx_queues;
    out->most_octets = most_octets(&info);
    out->can_spread = (info.flow_type_rss_offloads & SPREAD) != 0;
    return 0;
}

static void number_slot(struct rte_mempool *pool, void *unused, void *object, unsigned index) {
    (void)pool;
    (void)unused;
    *RTE_MBUF_DYNFIELD((struct rte_mbuf *)object, slot_offset, uint32_t *) = index;
}

static struct rte_mempool *make_pool(const char *kind, uint16_t port, unsigned queue, unsigned buffers, unsigned room) {
    char name[RTE_MEMPOOL_NAMESIZE];
    snprintf(name, sizeof name, "sb-%s-%u-%u", kind, port, queue);
    int node = rte_eth_dev_socket_id(port);
    return rte_pktmbuf_pool_create(name, buffers, POOL_CACHE, 0, (uint16_t)(RTE_PKTMBUF_HEADROOM + room), node);
}

// vmxnet3 fills a second ring of the same size, for the rest of long frames. If that took the last buffers, the driver would deliver nothing: it first takes a
// new one for each frame.
static unsigned rings_of_queue(const struct rte_eth_dev_info *info) {
    return info->driver_name && strstr(info->driver_name, "vmxnet3") ? 2 : 1;
}

// virtio wants room for a VLAN tag and for its own header besides the longest frame.
static unsigned room_of_driver(const struct rte_eth_dev_info *info) {
    return info->driver_name && strstr(info->driver_name, "virtio") ? 16 : 0;
}

static int make_pools(struct shim_port *port, const struct shim_settings *settings, const struct rte_eth_dev_info *info) {
    unsigned sent_room = port->frame_room + ANSWER_OCTETS;
    unsigned received = rings_of_queue(info) * settings->rx_ring + KEPT_BY_THREADS + BATCH;
    for (unsigned q = 0; q < port->queues; q++) {
        struct shim_queue *queue = &port->queue[q];
        // Twice the ring for sending: drivers give back what they have sent only when the ring fills.
        queue->tx_pool = make_pool("tx", port->id, q, 2 * settings->tx_ring + KEPT_BY_THREADS + BATCH, sent_room);
        queue->rx_pool = make_pool("rx", port->id, q, received, settings->receive_room + room_of_driver(info));
        if (!queue->tx_pool || !queue->rx_pool) return -ENOMEM;
        rte_mempool_obj_iter(queue->tx_pool, number_slot, NULL);
    }
    return 0;
}

static int set_queues_up(const struct shim_port *port, const struct shim_settings *settings) {
    int node = rte_eth_dev_socket_id(port->id), rc = 0;
    for (uint16_t q = 0; q < port->queues && rc == 0; q++) {
        rc = rte_eth_rx_queue_setup(port->id, q, (uint16_t)settings->rx_ring, node, NULL, port->queue[q].rx_pool);
        if (rc == 0) rc = rte_eth_tx_queue_setup(port->id, q, (uint16_t)settings->tx_ring, node, NULL);
    }
    return rc;
}

static int configure(const struct shim_port *port, struct shim_settings *settings, const struct rte_eth_dev_info *info) {
    struct rte_eth_conf conf;
    memset(&conf, 0, sizeof conf);
    conf.rxmode.mtu = settings->longest_received - RTE_ETHER_HDR_LEN;
    if (port->queues > 1 && (info->flow_type_rss_offloads & SPREAD)) {
        conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
        conf.rx_adv_conf.rss_conf.rss_hf = SPREAD & info->flow_type_rss_offloads;
    }
    // All buffers of a queue are of one pool, and each is held once.
    conf.txmode.offloads = info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
    int rc = rte_eth_dev_configure(port->id, port->queues, port->queues, &conf);
    if (rc) return rc;
    uint16_t rx_ring = (uint16_t)settings->rx_ring, tx_ring = (uint16_t)settings->tx_ring;
    rc = rte_eth_dev_adjust_nb_rx_tx_desc(port->id, &rx_ring, &tx_ring);
    settings->rx_ring = rx_ring;
    settings->tx_ring = tx_ring;
    return rc;
}

// Turns flow control off: a device that sends PAUSE frames would make the tester look slow. A driver that has none, or cannot change it, is left alone.
static void stop_pausing(struct shim_port *port) {
    struct rte_eth_fc_conf off;
    memset(&port->flow_control, 0, sizeof port->flow_control);
    if (rte_eth_dev_flow_ctrl_get(port->id, &port->flow_control) || port->flow_control.mode == RTE_ETH_FC_NONE) return;
    off = port->flow_control;
    off.mode = RTE_ETH_FC_NONE;
    port->has_stopped_pausing = rte_eth_dev_flow_ctrl_set(port->id, &off) == 0;
}

static void shim_close(struct shim_port *port) {
    // The kernel keeps the NIC of a driver that shares it.
    if (port->has_stopped_pausing) rte_eth_dev_flow_ctrl_set(port->id, &port->flow_control);
    shim_remove(port->id);
    for (unsigned q = 0; q < port->queues; q++) {
        rte_mempool_free(port->queue[q].rx_pool);
        rte_mempool_free(port->queue[q].tx_pool);
    }
    rte_free(port);
}

// Opens a port that was probed. It is removed if it cannot be opened.
static int shim_open(uint16_t id, struct shim_settings *settings, struct shim_port **out) {
    struct rte_eth_dev_info info;
    size_t octets = sizeof(struct shim_port) + settings->queues * sizeof(struct shim_queue);
    struct shim_port *port = rte_zmalloc(NULL, octets, RTE_CACHE_LINE_SIZE);
    int rc = port ? rte_eth_dev_info_get(id, &info) : -ENOMEM;
    if (!port) {
        shim_remove(id);
        return rc;
    }
    port->id = id;
    port->queues = (uint16_t)settings->queues;
    port->frame_room = (uint16_t)settings->longest_sent;
    if (rc == 0) rc = configure(port, settings, &info);
    if (rc == 0) rc = make_pools(port, settings, &info);
    if (rc == 0) rc = set_queues_up(port, settings);
    if (rc == 0) rc = rte_eth_dev_start(id);
    // Where a device knows neither, it receives everything.
    if (rc == 0 && settings->is_promiscuous && rte_eth_promiscuous_enable(id)) rte_eth_allmulticast_enable(id);
    if (rc) {
        shim_close(port);
        return rc;
    }
    stop_pausing(port);
    *out = port;
    return 0;
}

// Returns 1 if the link is up, 0 if it is down, or an error. Never waits.
static int shim_link(const struct shim_port *port) {
    struct rte_eth_link link;
    int rc = rte_eth_link_get_nowait(port->id, &link);
    return rc < 0 ? rc : link.link_status == RTE_ETH_LINK_UP;
}

// Counts the frames for which there was no room in a ring or no buffer, since the port was started.
static int shim_missed(const struct shim_port *port, uint64_t *frames) {
    struct rte_eth_stats stats;
    int rc = rte_eth_stats_get(port->id, &stats);
    if (rc == 0) *frames = stats.imissed + stats.rx_nombuf;
    return rc;
}

static unsigned shim_slots(const struct shim_port *port, unsigned queue) { return port->queue[queue].tx_pool->size; }

// ---- threads

// Gives the calling thread caches of buffers. Returns 1 if it must leave again.
static int shim_join_thread(void) { return rte_lcore_id() == LCORE_ID_ANY && rte_thread_register() == 0; }
static void shim_leave_thread(void) { rte_thread_unregister(); }

// ---- frames

// Takes buffers to be written; returns how many: all or none.
static unsigned shim_take(const struct shim_port *port, unsigned queue, struct shim_batch *batch, unsigned wanted) {
    if (rte_pktmbuf_alloc_bulk(port->queue[queue].tx_pool, batch->buffers, wanted)) return 0;
    for (unsigned i = 0; i < wanted; i++) {
        batch->data[i] = rte_pktmbuf_mtod(batch->buffers[i], uint8_t *);
        batch->slots[i] = *RTE_MBUF_DYNFIELD(batch->buffers[i], slot_offset, uint32_t *);
    }
    return wanted;
}

// Sends the buffers from `first` to before `end`, with the octets given; returns how many were taken. The others stay the caller's.
static unsigned shim_send(const struct shim_port *port, unsigned queue, struct shim_batch *batch, unsigned first, unsigned end) {
    for (unsigned i = first; i < end; i++) {
        batch->buffers[i]->data_len = (uint16_t)batch->octets[i];
        batch->buffers[i]->pkt_len = batch->octets[i];
    }
    return rte_eth_tx_burst(port->id, (uint16_t)queue, batch->buffers + first, (uint16_t)(end - first));
}

// Sends one frame from behind what the scheduled frame of the buffer holds. Returns 1 if it was taken.
static int shim_answer(const struct shim_port *port, unsigned queue, const uint8_t *frame, uint32_t octets) {
    struct rte_mbuf *buffer = octets <= ANSWER_OCTETS ? rte_pktmbuf_alloc(port->queue[queue].tx_pool) : NULL;
    if (!buffer) return 0;
    buffer->data_off = (uint16_t)(buffer->data_off + port->frame_room);
    memcpy(rte_pktmbuf_mtod(buffer, uint8_t *), frame, octets);
    buffer->data_len = (uint16_t)octets;
    buffer->pkt_len = octets;
    if (rte_eth_tx_burst(port->id, (uint16_t)queue, &buffer, 1) == 1) return 1;
    rte_pktmbuf_free(buffer);
    return 0;
}

// Takes frames that have come; `data` is NULL where one lies in several buffers.
static unsigned shim_receive(const struct shim_port *port, unsigned queue, struct shim_batch *batch) {
    unsigned got = rte_eth_rx_burst(port->id, (uint16_t)queue, batch->buffers, BATCH);
    for (unsigned i = 0; i < got; i++) {
        struct rte_mbuf *buffer = batch->buffers[i];
        batch->data[i] = buffer->nb_segs == 1 ? rte_pktmbuf_mtod(buffer, uint8_t *) : NULL;
        batch->octets[i] = buffer->pkt_len;
    }
    return got;
}

// Copies a frame that lies in several buffers; returns its octets, cut to `room`.
static uint32_t shim_gather(const struct shim_batch *batch, unsigned index, uint8_t *frame, uint32_t room) {
    const struct rte_mbuf *buffer = batch->buffers[index];
    uint32_t octets = buffer->pkt_len < room ? buffer->pkt_len : room;
    const void *found = rte_pktmbuf_read(buffer, 0, octets, frame);
    if (!found) return 0;
    if (found != frame) memcpy(frame, found, octets);
    return octets;
}

// Gives back the buffers from `first` to before `end`.
static void shim_release(struct shim_batch *batch, unsigned first, unsigned end) {
    rte_pktmbuf_free_bulk(batch->buffers + first, end - first);
}

struct shim_table {
    uint32_t abi;
    uint32_t batch;
    const char *(*version)(void);
    void (*take_log)(char *, size_t);
    int (*start)(int, char **);
    int (*probe)(const char *, uint16_t *);
    int (*remove)(uint16_t);
    int (*describe)(uint16_t, struct shim_description *);
    int (*open)(uint16_t, struct shim_settings *, struct shim_port **);
    void (*close)(struct shim_port *);
    int (*link)(const struct shim_port *);
    int (*missed)(const struct shim_port *, uint64_t *);
    unsigned (*slots)(const struct shim_port *, unsigned);
    int (*join_thread)(void);
    void (*leave_thread)(void);
    unsigned (*take)(const struct shim_port *, unsigned, struct shim_batch *, unsigned);
    unsigned (*send)(const struct shim_port *, unsigned, struct shim_batch *, unsigned, unsigned);
    int (*answer)(const struct shim_port *, unsigned, const uint8_t *, uint32_t);
    unsigned (*receive)(const struct shim_port *, unsigned, struct shim_batch *);
    uint32_t (*gather)(const struct shim_batch *, unsigned, uint8_t *, uint32_t);
    void (*release)(struct shim_batch *, unsigned, unsigned);
};

// The only symbol, and the first thing of it that is read is its number.
__attribute__((visibility("default"))) const struct shim_table sixbench_dpdk = {
    .abi = SHIM_ABI,
    .batch = BATCH,
    .version = shim_version,
    .take_log = shim_take_log,
    .start = shim_start,
    .probe = shim_probe,
    .remove = shim_remove,
    .describe = shim_describe,
    .open = shim_open,
    .close = shim_close,
    .link = shim_link,
    .missed = shim_missed,
    .slots = shim_slots,
    .join_thread = shim_join_thread,
    .leave_thread = shim_leave_thread,
    .take = shim_take,
    .send = shim_send,
    .answer = shim_answer,
    .receive = shim_receive,
    .gather = shim_gather,
    .release = shim_release,
};
