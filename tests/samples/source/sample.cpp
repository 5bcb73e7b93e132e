#include <string>
#include <vector>

namespace sea {
namespace detail {

/// A harbour.
template <typename T>
class Harbour : public Port {
public:
    explicit Harbour(int depth) : depth_(depth) {}
    ~Harbour() override {}

    // Docks.
    template <class U>
    bool dock(const U& ship) const {
        return true;
    }

    int declared_only(int a);

    bool operator==(const Harbour& other) const { return true; }
    operator bool() const { return true; }

private:
    int depth_;
};

struct Tide {
    int level = 1;
};

enum class Colour { Red, Green };

}  // namespace detail

/* Adds. */
template <typename T>
[[nodiscard]] constexpr auto add(T a, T b) -> T {
    return a + b;
}
}  // namespace sea

int sea::detail::Harbour<int>::declared_only(int a)
{
    return a;
}

std::vector<int>& numbers(void) { static std::vector<int> v; return v; }

EXPORT_API void exported(int a) {
}

#define DEFINE_TEST(name) \
    void name()

TEST(Suite, Name) {
    EXPECT_EQ(1, 1);
}

extern "C" {
int c_linkage(void) { return 1; }
}

auto lambda = [](int x) {
    return x;
};

int main() { return 0; }
