#include "abacus/sum.h"
#include <vector>

namespace abacus {

namespace {
int calls = 0;
}

template <typename T>
void Summer<T>::add(T number) {
  total_ += number;
}

double sum_exact(const double* numbers, std::size_t count) noexcept {
  Sum sum;
  for (std::size_t i = 0; i < count; ++i) {
    sum.add(numbers[i]);
  }
  ++calls;
  return sum();
}

#ifdef ABACUS_DEBUG
void dump() {}
#endif

}  // namespace abacus

extern "C" double abacus_sum(const double* numbers, unsigned long count) {
  return abacus::sum_exact(numbers, count);
}
