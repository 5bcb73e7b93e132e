#pragma once
namespace sea::deep {

class Buoy final {
 public:
  static Buoy make();
  int level() const noexcept { return level_; }

 private:
  int level_{0};
};

inline int depth() { return 1; }

}  // namespace sea::deep
