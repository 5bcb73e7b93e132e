<?php

namespace Sea\Harbour;

use Sea\Port;

const LIMIT = 3;

/**
 * A harbour.
 */
#[Entity]
final class Harbour extends Port implements Countable
{
    use Floats;

    private int $depth = 3;

    /** Makes one. */
    public function __construct(private string $name)
    {
    }

    #[Route('/dock')]
    public static function dock(string $ship): bool
    {
        return true;
    }

    abstract protected function later(): void;
}

interface Port
{
    public function open(): void;
}

trait Floats
{
    public function float() { return 1; }
}

enum Tide: string
{
    case Low = 'low';

    public function level(): int { return 1; }
}

/** Helps. */
function helper(array $a): array
{
    return $a;
}

$wave = function (int $x) use ($y) {
    return $x;
};

?>
<html><body><?= helper([]) ?></body></html>
