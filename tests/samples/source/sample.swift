import Foundation

let limit = 3

/// A harbour.
@available(iOS 13, *)
public final class Harbour<T>: Port {
    private var depth = 3

    /// Makes one.
    init(depth: Int) {
        self.depth = depth
    }

    deinit {
    }

    @discardableResult
    func dock(_ ship: String) throws -> Bool {
        func inner() {}
        return true
    }

    var level: Int {
        return 1
    }

    struct Dock {
        func ships() -> Int { return 1 }
    }
}

protocol Port {
    func open()
}

extension String {
    func shout() -> String {
        return uppercased()
    }
}

struct Point { var x: Int }

enum Tide {
    case low, high
    func level() -> Int { return 1 }
}

actor Counter {
    func increment() {}
}

typealias Names = [String]

func helper<T>(a: T) -> T where T: Equatable {
    return a
}
