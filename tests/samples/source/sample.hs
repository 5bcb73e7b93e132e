{-# LANGUAGE LambdaCase #-}
module Sea.Harbour (dock, Tide (..)) where

import Data.List (sort)

-- | A tide.
data Tide
  = Low
  | High
  deriving (Show, Eq)

newtype Depth = Depth Int

type Name = String

class Port a where
  open :: a -> Bool
  open _ = True

instance Port Tide where
  open Low = False
  open High = True

-- | Docks a ship.
dock :: Name -> Int -> Bool
dock "x" 0 = False
dock _ n
  | n > 1 = True
  | otherwise = inner
  where
    inner = False

limit :: Int
limit = 3

main :: IO ()
main = do
  print (dock "x" 1)
