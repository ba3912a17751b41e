#include "abacus/sum.h"

__global__ void partial_sums(const float* in, float* out, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = in[i];
}

void launch(const float* in, float* out, int count) {
  partial_sums<<<(count + 255) / 256, 256>>>(in, out, count);
}

namespace at {
namespace native {
Tensor tally_cuda(const Tensor& self, const Scalar& alpha) { return self; }
}  // namespace native
}  // namespace at
