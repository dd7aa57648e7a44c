// machines/kind.c: the getters that the kinds of machines share.
#include "machines/kind.h"

#include <stdarg.h>

#include "base/error.h"
#include "topo/build.h"
#include "topo/links.h"

static const char SECTION[] = MACHINE_KIND_SECTION;

gboolean machine_kind_get_rate(MachineKindFile *file, const char *key, IniNeed need, double *value,
                               GError **error)
{
    if (!ini_get(file->ini, SECTION, key, need, UNITS_RATE, value, error))
        return FALSE;
    return !ini_has(file->ini, SECTION, key) ||
           topo_links_check_bandwidth(file->ini, SECTION, key, *value, error);
}

gboolean machine_kind_get_latency(MachineKindFile *file, const char *key, IniNeed need, Ps *value,
                                  GError **error)
{
    return ini_get_ps(file->ini, SECTION, key, need, value, error) &&
           topo_links_check_latency(file->ini, SECTION, key, *value, error);
}

gboolean machine_kind_get_count(MachineKindFile *file, const char *key, IniNeed need, gint64 high,
                                guint32 *value, GError **error)
{
    gint64 count = *value;
    if (!ini_get_count(file->ini, SECTION, key, need, 1, high, &count, error))
        return FALSE;
    *value = (guint32)count;
    return TRUE;
}

gboolean machine_kind_check_absent(const MachineKindFile *file, const char *key, const char *other,
                                   const char *why, GError **error)
{
    if (ini_has(file->ini, SECTION, key))
        return ini_refuse(file->ini, SECTION, key, error, "found with %s", why);
    if (ini_has(file->ini, SECTION, other))
        return ini_refuse(file->ini, SECTION, other, error, "found with %s", why);
    return TRUE;
}

gboolean machine_kind_refuse_gpus(const MachineKindFile *file, const char *wanted, const char *why,
                                  GError **error)
{
    g_autofree char *name = base_error_quote(file->name);
    return base_error_set(error, BASE_ERROR_FAILED, file->where, "found %u GPUs, wanted %s: %s %s",
                          file->asked, wanted, name, why);
}

gboolean machine_kind_get_box(MachineKindFile *file, gint64 high, guint32 *box, guint32 *gpus, GError **error)
{
    if (!machine_kind_get_count(file, "gpus", INI_REQUIRED, high, box, error))
        return FALSE;
    *gpus = file->asked == 0 ? *box : file->asked;
    if (*gpus <= *box)
        return TRUE;
    g_autofree char *wanted = g_strdup_printf("at most %u", *box);
    g_autofree char *why = g_strdup_printf("has %u GPUs", *box);
    return machine_kind_refuse_gpus(file, wanted, why, error);
}

gboolean machine_kind_get_gpus(MachineKindFile *file, guint32 unit, const char *unit_name, gboolean part,
                               guint32 *gpus, GError **error)
{
    if (!machine_kind_get_count(file, "gpus", INI_REQUIRED, TOPO_BUILD_GPUS, gpus, error))
        return FALSE;
    if (*gpus % unit != 0)
        return ini_refuse(file->ini, SECTION, "gpus", error, "found %u, wanted a multiple of %u (%s)", *gpus,
                          unit, unit_name);
    if (file->asked == 0)
        return TRUE;
    *gpus = file->asked;
    if (*gpus % unit == 0 || (part && *gpus < unit))
        return TRUE;
    g_autofree char *wanted =
        g_strdup_printf("a multiple of %u%s", unit, part ? ", or fewer: a part of one" : "");
    g_autofree char *why = g_strdup_printf("grows by %s", unit_name);
    return machine_kind_refuse_gpus(file, wanted, why, error);
}

void machine_kind_add_note(MachineKindFile *file, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_ptr_array_add(file->notes, g_strdup_vprintf(format, arguments));
    va_end(arguments);
}
