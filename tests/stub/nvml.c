// A libnvidia-ml.so.1 of the tests' own: GPUs as a text file describes them, read anew with every look. The file's name
// is in MIDWATCH_STUB_NVML; without it there are eight healthy GPUs. Lines of the file:
//   gpus 8          how many there are
//   used 3 0        MB in use on GPU 3 (else 60000 of 80000)
//   slowed 3        GPU 3 is slowed down by heat
//   ecc 3 2         GPU 3 has met 2 uncorrected errors
//   lost 3          GPU 3 has fallen off the bus
//   xid 3 79        an Xid event of GPU 3, told once for each line that was not there before
//   error 999       every call fails
//   hang            the driver hangs
// What is declared is from NVIDIA's NVML API reference.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kSuccess = 0, kInvalid = 2, kTimeout = 10, kLost = 15, kGpus = 16 };

struct gpu {
  unsigned index;
  unsigned long long used_mb;
  int slowed, lost;
  unsigned long long ecc;
};
struct pci {
  char legacy[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char name[32];
};
struct memory {
  unsigned long long total, free, used;
};
struct memory_v2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
struct utilization {
  unsigned gpu, memory;
};
struct event {
  struct gpu* device;
  unsigned long long type, data;
  unsigned gpu_instance, compute_instance;
};

static struct gpu gpus[kGpus];
static unsigned count = 8;
static int error = kSuccess;
static struct event events[64];
static unsigned events_seen, events_told;

static void read_world(void) {
  count = 8;
  error = kSuccess;
  for (unsigned i = 0; i < kGpus; ++i) gpus[i] = (struct gpu){i, 60000, 0, 0, 0};
  const char* path = getenv("MIDWATCH_STUB_NVML");
  FILE* file = path != NULL ? fopen(path, "r") : NULL;
  if (file == NULL) return;
  char line[128], what[32];
  unsigned first = 0, second = 0, xids = 0;
  while (fgets(line, sizeof line, file) != NULL) {
    const int fields = sscanf(line, "%31s %u %u", what, &first, &second);
    if (fields < 1) continue;
    if (strcmp(what, "hang") == 0) {
      for (;;) pause();
    }
    if (strcmp(what, "gpus") == 0 && first <= kGpus) count = first;
    if (strcmp(what, "error") == 0) error = (int)first;
    if (fields < 2 || first >= kGpus) continue;
    if (strcmp(what, "used") == 0) gpus[first].used_mb = second;
    if (strcmp(what, "slowed") == 0) gpus[first].slowed = 1;
    if (strcmp(what, "lost") == 0) gpus[first].lost = 1;
    if (strcmp(what, "ecc") == 0) gpus[first].ecc = second;
    if (strcmp(what, "xid") != 0 || ++xids <= events_seen || events_seen >= 64) continue;
    events[events_seen++] = (struct event){&gpus[first], 0x8, second, 0, 0};
  }
  fclose(file);
}

static int answer(const struct gpu* gpu) { return error != kSuccess ? error : gpu->lost ? kLost : kSuccess; }

int nvmlInit_v2(void) {
  read_world();
  return error;
}
int nvmlShutdown(void) { return kSuccess; }
int nvmlDeviceGetCount_v2(unsigned* out) {
  read_world();
  *out = count;
  return error;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct gpu** out) {
  if (index >= count) return kInvalid;
  *out = &gpus[index];
  return answer(*out);
}
int nvmlDeviceGetMemoryInfo(struct gpu* gpu, struct memory* out) {
  out->total = 80000ULL << 20;
  out->used = gpu->used_mb << 20;
  out->free = out->total - out->used;
  return answer(gpu);
}
int nvmlDeviceGetMemoryInfo_v2(struct gpu* gpu, struct memory_v2* out) {
  if (out->version != (unsigned)(sizeof *out | (2U << 24))) return 25;  // NVML_ERROR_ARGUMENT_VERSION_MISMATCH
  out->total = 80000ULL << 20;
  out->reserved = 600ULL << 20;
  out->used = gpu->used_mb << 20;
  out->free = out->total - out->used - out->reserved;
  return answer(gpu);
}
int nvmlDeviceGetUtilizationRates(struct gpu* gpu, struct utilization* out) {
  static unsigned swing;
  out->gpu = gpu->used_mb > 0 ? 90 + (swing++ % 10) : 0;
  out->memory = 40;
  return answer(gpu);
}
int nvmlDeviceGetPowerUsage(struct gpu* gpu, unsigned* out) {
  *out = gpu->used_mb > 0 ? 640000 + gpu->index * 1000 : 70000;
  return answer(gpu);
}
int nvmlDeviceGetTemperature(struct gpu* gpu, int sensor, unsigned* out) {
  *out = sensor == 0 ? 61 + gpu->index + (gpu->slowed ? 30 : 0) : 0;
  return answer(gpu);
}
int nvmlDeviceGetClockInfo(struct gpu* gpu, int clock, unsigned* out) {
  *out = clock == 1 ? (gpu->slowed ? 900 : 1755) : 0;
  return answer(gpu);
}
int nvmlDeviceGetCurrentClocksThrottleReasons(struct gpu* gpu, unsigned long long* out) {
  *out = gpu->slowed ? 0x40 : 0x4;  // heat; else the power cap, where a busy GPU works
  return answer(gpu);
}
int nvmlDeviceGetTotalEccErrors(struct gpu* gpu, int type, int counter, unsigned long long* out) {
  *out = type == 1 && counter == 0 ? gpu->ecc : 0;
  return answer(gpu);
}
int nvmlDeviceGetPciInfo_v3(struct gpu* gpu, struct pci* out) {
  memset(out, 0, sizeof *out);
  snprintf(out->name, sizeof out->name, "00000000:%02X:00.0", 0x1b + gpu->index);
  return answer(gpu);
}
int nvmlEventSetCreate(void** out) {
  *out = events;
  return kSuccess;
}
int nvmlDeviceRegisterEvents(struct gpu* gpu, unsigned long long types, void* set) {
  return set == events && types == 0x8 ? answer(gpu) : kInvalid;
}
int nvmlEventSetWait_v2(void* set, struct event* out, unsigned timeout) {
  (void)timeout;
  if (set != events || events_told >= events_seen) return kTimeout;
  *out = events[events_told++];
  return kSuccess;
}
