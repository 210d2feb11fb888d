// For LD_PRELOAD: the wall clock goes back by a day after some calls, as when a machine's clock is set during a run.
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>

#include <atomic>

namespace {

constexpr int calls_before = 20;
constexpr time_t jump_seconds = 86400;

time_t jump() {
  static std::atomic<int> calls{0};
  return ++calls > calls_before ? jump_seconds : 0;
}

}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* t) {
  static const auto next = reinterpret_cast<int (*)(clockid_t, timespec*)>(dlsym(RTLD_NEXT, "clock_gettime"));
  const int result = next(clock, t);
  if (result == 0 && clock == CLOCK_REALTIME) t->tv_sec -= jump();
  return result;
}

extern "C" int gettimeofday(timeval* t, void* zone) {
  static const auto next = reinterpret_cast<int (*)(timeval*, void*)>(dlsym(RTLD_NEXT, "gettimeofday"));
  const int result = next(t, zone);
  if (result == 0) t->tv_sec -= jump();
  return result;
}

extern "C" time_t time(time_t* t) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (t != nullptr) *t = now.tv_sec;
  return now.tv_sec;
}
