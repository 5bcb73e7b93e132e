const std = @import("std");

const limit: u32 = 3;

/// A harbour.
pub const Harbour = struct {
    depth: u32,

    /// Makes one.
    pub fn init(depth: u32) Harbour {
        return .{ .depth = depth };
    }

    fn level(self: *const Harbour) u32 {
        return self.depth;
    }
};

const Tide = enum { low, high };

const Value = union(enum) {
    int: i64,
};

/// Adds.
pub fn add(a: u32, b: u32) u32 {
    return a + b;
}

fn List(comptime T: type) type {
    return struct { items: []T };
}

test "adds" {
    try std.testing.expect(add(1, 2) == 3);
}
