using System;

namespace Sea.Harbour
{
    /// <summary>A harbour.</summary>
    [Serializable]
    public partial class Harbour<T> : IPort where T : class
    {
        private const int Limit = 3;

        /// <summary>Makes one.</summary>
        public Harbour(int depth)
        {
            Depth = depth;
        }

        public int Depth { get; set; }

        public string Name
        {
            get { return "x"; }
            set { }
        }

        [Obsolete("x")]
        public async Task<int> Dock(string ship)
        {
            int Local(int a) => a;
            return Local(1);
        }

        public int Twice(int a) => a * 2;

        public static bool operator ==(Harbour<T> a, Harbour<T> b) { return true; }

        ~Harbour() { }
    }

    public partial class Harbour<T>
    {
        void Second() { }
    }

    public interface IPort { void Open(); }
    public struct Point { public int X; }
    public enum Tide { Low, High }
    public record Person(string Name);
    public delegate void Changed(int a);
}
