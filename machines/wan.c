// machines/wan.c: three limits and the least of them.
#include "machines/wan.h"

#include <math.h>

const char *const MACHINE_WAN_LIMITS[] = {"the line", "the window", "loss"};

double machine_wan_rate(const MachineWan *wan, MachineWanLimit *limit)
{
    g_assert(wan->line > 0 && wan->rtt > 0 && wan->streams >= 1 && wan->mtu >= MACHINE_WAN_MTU_LEAST);
    double mss = (double)wan->mtu - 52, rtt = units_seconds(wan->rtt);
    double rate = wan->line * mss / ((double)wan->mtu + 38);
    MachineWanLimit least = MACHINE_WAN_LINE;
    double by_window = wan->window > 0 ? wan->streams * ((double)wan->window / rtt) : G_MAXDOUBLE;
    double by_loss = wan->loss > 0 ? wan->streams * (sqrt(1.5) * mss / (rtt * sqrt(wan->loss))) : G_MAXDOUBLE;
    if (by_window < rate) {
        rate = by_window;
        least = MACHINE_WAN_WINDOW;
    }
    if (by_loss < rate) {
        rate = by_loss;
        least = MACHINE_WAN_LOSS;
    }
    if (limit != NULL)
        *limit = least;
    return rate;
}
