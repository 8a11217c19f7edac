/* Preloaded: the wall clock jumps back and forth by seconds and by years; the steady clock is unchanged. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>

static const long STEPS[] = {0, -30, 3600, -86400, 5, -40000000, 90000000};

static long step(void) {
  static unsigned calls;
  return STEPS[__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED) % (sizeof STEPS / sizeof *STEPS)];
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  int code = ((int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime"))(clock, now);
  if (!code && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += step();
  return code;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  int code = ((int (*)(struct timeval *, void *))dlsym(RTLD_NEXT, "gettimeofday"))(now, zone);
  if (!code && now) now->tv_sec += step();
  return code;
}

time_t time(time_t *now) {
  struct timespec exact;
  clock_gettime(CLOCK_REALTIME, &exact);
  if (now) *now = exact.tv_sec;
  return exact.tv_sec;
}
