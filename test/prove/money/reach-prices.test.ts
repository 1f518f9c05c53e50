import { program } from './reach-prices.ts'
import { short } from '../short.ts'

await short('reach-prices', program)
