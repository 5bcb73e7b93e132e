import React from "react";

type Props = { name: string };

/** Says hello. */
export const Hello: React.FC<Props> = ({ name }) => {
  return <div className="x">Hello {name}</div>;
};

export function Page(): JSX.Element {
  return (
    <Hello name="sea" />
  );
}
