/* Sums as they were made before. */
#include <stdio.h>

static int old_sum(numbers, count)
    const int *numbers;
    int count;
{
    int total = 0;
    while (count--) total += *numbers++;
    return total;
}

int main(void) { return printf("%d\n", old_sum(0, 0)); }
