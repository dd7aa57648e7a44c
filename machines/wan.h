// machines/wan.h: what rate a long-distance path carries with so many TCP streams.
//
//   rate = min(line * payload share, streams * min(window / rtt, C * mss / (rtt * sqrt(loss))))
//
// mss = mtu - 52: 20 bytes of IPv4, 20 of TCP, 12 of its time stamps (RFC 791, 9293, 7323). The payload share
// of the line is mss / (mtu + 38): Ethernet's preamble 8, header 14, checksum 4 and gap 12 (IEEE 802.3).
// window / rtt: a stream has at most one window under way (GEANT's wiki on TCP; RFC 7323). The loss term with
// C = sqrt(3/2) = 1.22 is Mathis, Semke, Mahdavi and Ott, "The Macroscopic Behavior of the TCP Congestion
// Avoidance Algorithm", CCR 27(3), 1997, for Reno with periodic loss and no delayed acknowledgements. It is a
// model, not measured here; CUBIC and BBR do better under loss: for them leave loss out and say window and
// streams.
#pragma once

#include <glib.h>

#include "base/units.h"

typedef struct {
    double line;     // bytes/s one way, as on the wire
    Ps rtt;          // more than 0
    double loss;     // the share of packets lost, 0 .. 1; 0: no limit by loss
    gint64 window;   // bytes under way per stream; 0: no limit by window
    guint32 streams; // from 1
    guint32 mtu;     // bytes of an IP packet, MACHINE_WAN_MTU_LEAST .. 65535
} MachineWan;

enum { MACHINE_WAN_MTU_LEAST = 576 }; // what every host takes (RFC 791)

typedef enum {
    MACHINE_WAN_LINE,
    MACHINE_WAN_WINDOW,
    MACHINE_WAN_LOSS,
} MachineWanLimit;

// "the line", "the window", "loss", by MachineWanLimit.
extern const char *const MACHINE_WAN_LIMITS[];

// The rate of all streams together, bytes/s; which term it comes from goes to *limit (may be NULL).
double machine_wan_rate(const MachineWan *wan, MachineWanLimit *limit);
