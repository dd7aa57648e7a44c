// imports/nccl-net.c: reading <net>.
#include "imports/nccl-net.h"

#include <string.h>

#include "base/error.h"

void import_nccl_net_init(ImportNcclNets *nets)
{
    nets->seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

void import_nccl_net_clear(ImportNcclNets *nets)
{
    g_clear_pointer(&nets->seen, g_hash_table_unref);
}

double import_nccl_net_read(ImportNcclNets *nets, ImportNcclFile *file, const ImportXmlElement *net,
                            guint host)
{
    // Linux names for what is no card: bridges, container and tunnel ends (kernel and CNI conventions).
    static const char *const virtuals[] = {"br-",   "veth", "cali",  "tun",   "tap",     "docker",
                                           "virbr", "cni",  "vxlan", "dummy", "flannel", "lxc"};
    const char *name = import_xml_find(net, "name"), *speed = import_xml_find(net, "speed");
    const char *guid = import_xml_find(net, "guid"), *use = import_xml_find(net, "net");
    import_nccl_file_check_attributes(file, net);
    for (guint i = 0; name != NULL && i < G_N_ELEMENTS(virtuals); i++)
        if (g_str_has_prefix(name, virtuals[i]) || strcmp(name, "lo") == 0) {
            import_nccl_file_report(
                file, net->line,
                "nets with names of virtual devices (br-, veth, cali, tun, docker, ...) left out: no "
                "card is behind them and their speed is made up");
            return 0;
        }
    if (g_strcmp0(use, "0") == 0) {
        import_nccl_file_report(file, net->line, "net with net=\"0\" left out: it is fused into another");
        return 0;
    }
    if (name != NULL && guid != NULL &&
        !g_hash_table_add(nets->seen, g_strdup_printf("%u %s %s", host, name, guid))) {
        import_nccl_file_report(file, net->line, "net that was listed before (same name and guid) left out");
        return 0;
    }
    gint64 megabits = 0;
    if (speed != NULL && import_nccl_file_parse(speed, &megabits) && megabits > 0 && megabits <= 10000000)
        return (double)megabits * 1e6 / 8;
    g_autofree char *found = speed == NULL ? g_strdup("is missing") : base_error_quote(speed);
    import_nccl_file_report(file, net->line, "net.speed %s%s%s: taken as 10 Gb/s, as NCCL does",
                            speed == NULL ? "" : "'", found, speed == NULL ? "" : "' is no speed in Mb/s");
    return 10e9 / 8;
}
