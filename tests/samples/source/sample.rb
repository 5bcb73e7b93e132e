require 'set'

LIMIT = 3

# The sea.
module Sea
  # A harbour.
  class Harbour < Port
    include Comparable
    attr_reader :depth

    # Makes one.
    def initialize(depth)
      @depth = depth
    end

    def self.create(*args)
      new(*args)
    end

    class << self
      def build
        new(1)
      end
    end

    private def hidden?
      true
    end

    def ==(other) = depth == other.depth

    class Error < StandardError; end

    define_method(:dynamic) do
      1
    end
  end
end

def helper; 1; end

class Sea::Deep::Buoy
  def level = 1
end

task :build do
  puts 'x'
end
