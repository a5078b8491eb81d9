/* SPDX-License-Identifier: Apache-2.0 */
/* Names of flags and numbers in calls on sockets and for polling. The values are those of the headers of Linux. */
#include "base/array.h"
#include "syscalls/syscall_words.h"

static const struct syscall_word words_eventfd[] = {{1, "SEMAPHORE"}, {0x80000, "CLOEXEC"}, {0x800, "NONBLOCK"}};
const struct syscall_words syscall_words_eventfd = {"EFD_", "", words_eventfd, ARRAY_LEN(words_eventfd), false};

static const struct syscall_word words_epoll_create[] = {{0x80000, "CLOEXEC"}};
const struct syscall_words syscall_words_epoll_create = {
	"EPOLL_", "", words_epoll_create, ARRAY_LEN(words_epoll_create), false};

static const struct syscall_word words_epoll_op[] = {{1, "ADD"}, {2, "DEL"}, {3, "MOD"}};
const struct syscall_words syscall_words_epoll_op = {"EPOLL_CTL_", "", words_epoll_op, ARRAY_LEN(words_epoll_op), true};

static const struct syscall_word words_epoll_events[] = {{1, "IN"}, {2, "PRI"}, {4, "OUT"}, {8, "ERR"}, {0x10, "HUP"},
	{0x20, "NVAL"}, {0x40, "RDNORM"}, {0x80, "RDBAND"}, {0x100, "WRNORM"}, {0x200, "WRBAND"}, {0x400, "MSG"},
	{0x2000, "RDHUP"}, {0x10000000, "EXCLUSIVE"}, {0x20000000, "WAKEUP"}, {0x40000000, "ONESHOT"},
	{0x80000000, "ET"}};
const struct syscall_words syscall_words_epoll_events = {
	"EPOLL", "", words_epoll_events, ARRAY_LEN(words_epoll_events), false};

static const struct syscall_word words_poll_events[] = {{1, "IN"}, {2, "PRI"}, {4, "OUT"}, {8, "ERR"}, {0x10, "HUP"},
	{0x20, "NVAL"}, {0x40, "RDNORM"}, {0x80, "RDBAND"}, {0x100, "WRNORM"}, {0x200, "WRBAND"}, {0x400, "MSG"},
	{0x1000, "REMOVE"}, {0x2000, "RDHUP"}};
const struct syscall_words syscall_words_poll_events = {
	"POLL", "", words_poll_events, ARRAY_LEN(words_poll_events), false};

static const struct syscall_word words_family[] = {{0, "UNSPEC"}, {1, "UNIX"}, {2, "INET"}, {3, "AX25"}, {4, "IPX"},
	{5, "APPLETALK"}, {6, "NETROM"}, {7, "BRIDGE"}, {8, "ATMPVC"}, {9, "X25"}, {0xa, "INET6"}, {0xb, "ROSE"},
	{0xc, "DECnet"}, {0xd, "NETBEUI"}, {0xe, "SECURITY"}, {0xf, "KEY"}, {0x10, "NETLINK"}, {0x11, "PACKET"},
	{0x12, "ASH"}, {0x13, "ECONET"}, {0x14, "ATMSVC"}, {0x15, "RDS"}, {0x16, "SNA"}, {0x17, "IRDA"},
	{0x18, "PPPOX"}, {0x19, "WANPIPE"}, {0x1a, "LLC"}, {0x1b, "IB"}, {0x1c, "MPLS"}, {0x1d, "CAN"}, {0x1e, "TIPC"},
	{0x1f, "BLUETOOTH"}, {0x20, "IUCV"}, {0x21, "RXRPC"}, {0x22, "ISDN"}, {0x23, "PHONET"}, {0x24, "IEEE802154"},
	{0x25, "CAIF"}, {0x26, "ALG"}, {0x27, "NFC"}, {0x28, "VSOCK"}, {0x29, "KCM"}, {0x2a, "QIPCRTR"}, {0x2b, "SMC"},
	{0x2c, "XDP"}, {0x2d, "MCTP"}};
const struct syscall_words syscall_words_family = {"AF_", "", words_family, ARRAY_LEN(words_family), true};

static const struct syscall_word words_sock_type[] = {
	{1, "STREAM"}, {2, "DGRAM"}, {3, "RAW"}, {4, "RDM"}, {5, "SEQPACKET"}, {6, "DCCP"}, {0xa, "PACKET"}};
const struct syscall_words syscall_words_sock_type = {"SOCK_", "", words_sock_type, ARRAY_LEN(words_sock_type), true};

static const struct syscall_word words_sock_flags[] = {{0x80000, "CLOEXEC"}, {0x800, "NONBLOCK"}};
const struct syscall_words syscall_words_sock_flags = {
	"SOCK_", "", words_sock_flags, ARRAY_LEN(words_sock_flags), false};

static const struct syscall_word words_ipproto[] = {{0, "IP"}, {1, "ICMP"}, {2, "IGMP"}, {4, "IPIP"}, {6, "TCP"},
	{8, "EGP"}, {0xc, "PUP"}, {0x11, "UDP"}, {0x16, "IDP"}, {0x1d, "TP"}, {0x21, "DCCP"}, {0x29, "IPV6"},
	{0x2e, "RSVP"}, {0x2f, "GRE"}, {0x32, "ESP"}, {0x33, "AH"}, {0x5c, "MTP"}, {0x5e, "BEETPH"}, {0x62, "ENCAP"},
	{0x67, "PIM"}, {0x6c, "COMP"}, {0x73, "L2TP"}, {0x84, "SCTP"}, {0x88, "UDPLITE"}, {0x89, "MPLS"},
	{0x8f, "ETHERNET"}, {0xff, "RAW"}, {0x100, "SMC"}, {0x106, "MPTCP"}, {0x3a, "ICMPV6"}};
const struct syscall_words syscall_words_ipproto = {"IPPROTO_", "", words_ipproto, ARRAY_LEN(words_ipproto), true};

static const struct syscall_word words_netlink[] = {{0, "ROUTE"}, {1, "UNUSED"}, {2, "USERSOCK"}, {3, "FIREWALL"},
	{4, "SOCK_DIAG"}, {5, "NFLOG"}, {6, "XFRM"}, {7, "SELINUX"}, {8, "ISCSI"}, {9, "AUDIT"}, {0xa, "FIB_LOOKUP"},
	{0xb, "CONNECTOR"}, {0xc, "NETFILTER"}, {0xd, "IP6_FW"}, {0xe, "DNRTMSG"}, {0xf, "KOBJECT_UEVENT"},
	{0x10, "GENERIC"}, {0x12, "SCSITRANSPORT"}, {0x13, "ECRYPTFS"}, {0x14, "RDMA"}, {0x15, "CRYPTO"},
	{0x16, "SMC"}};
const struct syscall_words syscall_words_netlink = {"NETLINK_", "", words_netlink, ARRAY_LEN(words_netlink), true};

static const struct syscall_word words_msg[] = {{1, "OOB"}, {2, "PEEK"}, {4, "DONTROUTE"}, {8, "CTRUNC"},
	{0x10, "PROBE"}, {0x20, "TRUNC"}, {0x40, "DONTWAIT"}, {0x80, "EOR"}, {0x100, "WAITALL"}, {0x200, "FIN"},
	{0x400, "SYN"}, {0x800, "CONFIRM"}, {0x1000, "RST"}, {0x2000, "ERRQUEUE"}, {0x4000, "NOSIGNAL"},
	{0x8000, "MORE"}, {0x10000, "WAITFORONE"}, {0x40000, "BATCH"}, {0x4000000, "ZEROCOPY"},
	{0x20000000, "FASTOPEN"}, {0x40000000, "CMSG_CLOEXEC"}};
const struct syscall_words syscall_words_msg = {"MSG_", "", words_msg, ARRAY_LEN(words_msg), false};

static const struct syscall_word words_shutdown[] = {{0, "RD"}, {1, "WR"}, {2, "RDWR"}};
const struct syscall_words syscall_words_shutdown = {"SHUT_", "", words_shutdown, ARRAY_LEN(words_shutdown), true};

static const struct syscall_word words_sol[] = {{0, "IP"}, {1, "SOCKET"}, {6, "TCP"}, {0x11, "UDP"}, {0x29, "IPV6"},
	{0x3a, "ICMPV6"}, {0x84, "SCTP"}, {0xff, "RAW"}, {0x107, "PACKET"}, {0x10e, "NETLINK"}, {0x11a, "TLS"},
	{0x11b, "XDP"}, {0x11c, "MPTCP"}, {0x11f, "VSOCK"}, {0x117, "ALG"}, {0x112, "BLUETOOTH"}};
const struct syscall_words syscall_words_sol = {"SOL_", "", words_sol, ARRAY_LEN(words_sol), true};

static const struct syscall_word words_so[] = {{1, "DEBUG"}, {2, "REUSEADDR"}, {3, "TYPE"}, {4, "ERROR"},
	{5, "DONTROUTE"}, {6, "BROADCAST"}, {7, "SNDBUF"}, {8, "RCVBUF"}, {9, "KEEPALIVE"}, {0xa, "OOBINLINE"},
	{0xb, "NO_CHECK"}, {0xc, "PRIORITY"}, {0xd, "LINGER"}, {0xe, "BSDCOMPAT"}, {0xf, "REUSEPORT"},
	{0x10, "PASSCRED"}, {0x11, "PEERCRED"}, {0x12, "RCVLOWAT"}, {0x13, "SNDLOWAT"}, {0x14, "RCVTIMEO"},
	{0x15, "SNDTIMEO"}, {0x19, "BINDTODEVICE"}, {0x1a, "ATTACH_FILTER"}, {0x1b, "DETACH_FILTER"},
	{0x1c, "PEERNAME"}, {0x1d, "TIMESTAMP"}, {0x1e, "ACCEPTCONN"}, {0x1f, "PEERSEC"}, {0x20, "SNDBUFFORCE"},
	{0x21, "RCVBUFFORCE"}, {0x22, "PASSSEC"}, {0x23, "TIMESTAMPNS"}, {0x24, "MARK"}, {0x25, "TIMESTAMPING"},
	{0x26, "PROTOCOL"}, {0x27, "DOMAIN"}, {0x28, "RXQ_OVFL"}, {0x29, "WIFI_STATUS"}, {0x2a, "PEEK_OFF"},
	{0x2b, "NOFCS"}, {0x2c, "LOCK_FILTER"}, {0x2d, "SELECT_ERR_QUEUE"}, {0x2e, "BUSY_POLL"},
	{0x2f, "MAX_PACING_RATE"}, {0x30, "BPF_EXTENSIONS"}, {0x31, "INCOMING_CPU"}, {0x32, "ATTACH_BPF"},
	{0x33, "ATTACH_REUSEPORT_CBPF"}, {0x34, "ATTACH_REUSEPORT_EBPF"}, {0x35, "CNX_ADVICE"}, {0x37, "MEMINFO"},
	{0x38, "INCOMING_NAPI_ID"}, {0x39, "COOKIE"}, {0x3b, "PEERGROUPS"}, {0x3c, "ZEROCOPY"}, {0x3d, "TXTIME"},
	{0x3e, "BINDTOIFINDEX"}, {0x3f, "TIMESTAMP_NEW"}, {0x40, "TIMESTAMPNS_NEW"}, {0x41, "TIMESTAMPING_NEW"},
	{0x42, "RCVTIMEO_NEW"}, {0x43, "SNDTIMEO_NEW"}, {0x44, "DETACH_REUSEPORT_BPF"}, {0x45, "PREFER_BUSY_POLL"},
	{0x46, "BUSY_POLL_BUDGET"}, {0x47, "NETNS_COOKIE"}, {0x48, "BUF_LOCK"}, {0x49, "RESERVE_MEM"},
	{0x4a, "TXREHASH"}, {0x4b, "RCVMARK"}, {0x4c, "PASSPIDFD"}, {0x4d, "PEERPIDFD"}};
const struct syscall_words syscall_words_so = {"SO_", "", words_so, ARRAY_LEN(words_so), true};

static const struct syscall_word words_tcp[] = {{1, "NODELAY"}, {2, "MAXSEG"}, {3, "CORK"}, {4, "KEEPIDLE"},
	{5, "KEEPINTVL"}, {6, "KEEPCNT"}, {7, "SYNCNT"}, {8, "LINGER2"}, {9, "DEFER_ACCEPT"}, {0xa, "WINDOW_CLAMP"},
	{0xb, "INFO"}, {0xc, "QUICKACK"}, {0xd, "CONGESTION"}, {0xe, "MD5SIG"}, {0x10, "THIN_LINEAR_TIMEOUTS"},
	{0x11, "THIN_DUPACK"}, {0x12, "USER_TIMEOUT"}, {0x13, "REPAIR"}, {0x14, "REPAIR_QUEUE"}, {0x15, "QUEUE_SEQ"},
	{0x16, "REPAIR_OPTIONS"}, {0x17, "FASTOPEN"}, {0x18, "TIMESTAMP"}, {0x19, "NOTSENT_LOWAT"}, {0x1a, "CC_INFO"},
	{0x1b, "SAVE_SYN"}, {0x1c, "SAVED_SYN"}, {0x1d, "REPAIR_WINDOW"}, {0x1e, "FASTOPEN_CONNECT"}, {0x1f, "ULP"},
	{0x20, "MD5SIG_EXT"}, {0x21, "FASTOPEN_KEY"}, {0x22, "FASTOPEN_NO_COOKIE"}, {0x23, "ZEROCOPY_RECEIVE"},
	{0x24, "INQ"}, {0x25, "TX_DELAY"}};
const struct syscall_words syscall_words_tcp = {"TCP_", "", words_tcp, ARRAY_LEN(words_tcp), true};

static const struct syscall_word words_ip_opt[] = {{1, "TOS"}, {2, "TTL"}, {3, "HDRINCL"}, {4, "OPTIONS"},
	{5, "ROUTER_ALERT"}, {6, "RECVOPTS"}, {7, "RETOPTS"}, {8, "PKTINFO"}, {9, "PKTOPTIONS"}, {0xa, "MTU_DISCOVER"},
	{0xb, "RECVERR"}, {0xc, "RECVTTL"}, {0xd, "RECVTOS"}, {0xe, "MTU"}, {0xf, "FREEBIND"}, {0x10, "IPSEC_POLICY"},
	{0x11, "XFRM_POLICY"}, {0x12, "PASSSEC"}, {0x13, "TRANSPARENT"}, {0x14, "ORIGDSTADDR"}, {0x15, "MINTTL"},
	{0x16, "NODEFRAG"}, {0x17, "CHECKSUM"}, {0x18, "BIND_ADDRESS_NO_PORT"}, {0x19, "RECVFRAGSIZE"},
	{0x1a, "RECVERR_RFC4884"}, {0x20, "MULTICAST_IF"}, {0x21, "MULTICAST_TTL"}, {0x22, "MULTICAST_LOOP"},
	{0x23, "ADD_MEMBERSHIP"}, {0x24, "DROP_MEMBERSHIP"}, {0x33, "LOCAL_PORT_RANGE"}};
const struct syscall_words syscall_words_ip_opt = {"IP_", "", words_ip_opt, ARRAY_LEN(words_ip_opt), true};

static const struct syscall_word words_ipv6_opt[] = {{1, "ADDRFORM"}, {2, "2292PKTINFO"}, {7, "CHECKSUM"},
	{0x10, "UNICAST_HOPS"}, {0x11, "MULTICAST_IF"}, {0x12, "MULTICAST_HOPS"}, {0x13, "MULTICAST_LOOP"},
	{0x14, "ADD_MEMBERSHIP"}, {0x15, "DROP_MEMBERSHIP"}, {0x16, "ROUTER_ALERT"}, {0x17, "MTU_DISCOVER"},
	{0x18, "MTU"}, {0x19, "RECVERR"}, {0x1a, "V6ONLY"}, {0x1b, "JOIN_ANYCAST"}, {0x1c, "LEAVE_ANYCAST"},
	{0x31, "RECVPKTINFO"}, {0x32, "PKTINFO"}, {0x33, "RECVHOPLIMIT"}, {0x34, "HOPLIMIT"}, {0x42, "RECVTCLASS"},
	{0x43, "TCLASS"}, {0x46, "AUTOFLOWLABEL"}, {0x48, "ADDR_PREFERENCES"}, {0x49, "MINHOPCOUNT"},
	{0x4b, "TRANSPARENT"}, {0x4e, "FREEBIND"}};
const struct syscall_words syscall_words_ipv6_opt = {"IPV6_", "", words_ipv6_opt, ARRAY_LEN(words_ipv6_opt), true};

static const struct syscall_word words_uring_enter[] = {{1, "GETEVENTS"}, {2, "SQ_WAKEUP"}, {4, "SQ_WAIT"},
	{8, "EXT_ARG"}, {0x10, "REGISTERED_RING"}, {0x20, "ABS_TIMER"}, {0x40, "EXT_ARG_REG"}};
const struct syscall_words syscall_words_uring_enter = {
	"IORING_ENTER_", "", words_uring_enter, ARRAY_LEN(words_uring_enter), false};

static const struct syscall_word words_uring_register[] = {{0, "REGISTER_BUFFERS"}, {1, "UNREGISTER_BUFFERS"},
	{2, "REGISTER_FILES"}, {3, "UNREGISTER_FILES"}, {4, "REGISTER_EVENTFD"}, {5, "UNREGISTER_EVENTFD"},
	{6, "REGISTER_FILES_UPDATE"}, {7, "REGISTER_EVENTFD_ASYNC"}, {8, "REGISTER_PROBE"}, {9, "REGISTER_PERSONALITY"},
	{0xa, "UNREGISTER_PERSONALITY"}, {0xb, "REGISTER_RESTRICTIONS"}, {0xc, "REGISTER_ENABLE_RINGS"},
	{0xd, "REGISTER_FILES2"}, {0xe, "REGISTER_FILES_UPDATE2"}, {0xf, "REGISTER_BUFFERS2"},
	{0x10, "REGISTER_BUFFERS_UPDATE"}, {0x11, "REGISTER_IOWQ_AFF"}, {0x12, "UNREGISTER_IOWQ_AFF"},
	{0x13, "REGISTER_IOWQ_MAX_WORKERS"}, {0x14, "REGISTER_RING_FDS"}, {0x15, "UNREGISTER_RING_FDS"},
	{0x16, "REGISTER_PBUF_RING"}, {0x17, "UNREGISTER_PBUF_RING"}, {0x18, "REGISTER_SYNC_CANCEL"},
	{0x19, "REGISTER_FILE_ALLOC_RANGE"}};
const struct syscall_words syscall_words_uring_register = {
	"IORING_", "", words_uring_register, ARRAY_LEN(words_uring_register), true};
